"""`jsctl context previous`."""

from jsctl.base.command_lines import build_line
from jsctl.commands.cli import command
from jsctl.env import Env
from jsctl.errors import NotFound
from jsctl.views.context import info as view
from jsctl.views.result import Result


@command("previous", examples=["jsctl context previous", "jsctl context -"])
def previous(env: Env) -> Result:
    store = env.contexts
    name = store.previous() or store.selected()
    if not name:
        raise NotFound("no context was selected before", f"select one with {build_line('context select')}")
    context = store.load(name)
    store.select(name)
    return view.info_page(context)
