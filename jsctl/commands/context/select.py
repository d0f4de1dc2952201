"""`jsctl context select`."""

from jsctl.commands.cli import argument, command
from jsctl.commands.shared import complete
from jsctl.env import Env
from jsctl.errors import NotFound
from jsctl.views.context import contexts as view
from jsctl.views.result import Result


@command("select", examples=["jsctl context select hub", "jsctl context select"])
@argument("name", required=False, shell_complete=complete.contexts)
async def select(env: Env, name: str | None) -> Result:
    """Without a name, offers a list to pick from."""
    store = env.contexts
    if not name:
        known = store.names()
        if not known:
            raise NotFound("no context is defined", "jsctl context add makes one")
        current = store.selected()
        name = str(
            await env.prompter.select(
                "Select a Context", known, flag="NAME", default=current if current in known else None
            )
        )
    context = store.load(name)
    store.select(name)
    return view.info(context)
