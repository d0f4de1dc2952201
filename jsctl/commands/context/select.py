"""`jsctl context select`."""

from jsctl.commands.cli import argument, command
from jsctl.commands.picking.pick import pick
from jsctl.env import Env
from jsctl.views.context import info as view
from jsctl.views.result import Result


@command("select", examples=["jsctl context select hub", "jsctl context select"])
@argument("name", noun="context", default="")
async def select(env: Env, name: str) -> Result:
    """Show a list to pick from if there is no name."""
    store = env.contexts
    name = await pick(env, "context", name, default=store.selected())
    context = store.load(name)
    store.select(name)
    return view.info_page(context)
