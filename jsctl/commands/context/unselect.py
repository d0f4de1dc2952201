"""`jsctl context unselect`."""

from jsctl.commands.cli import command
from jsctl.env import Env
from jsctl.views.result import Result, Text


@command("unselect", examples=["jsctl context unselect"])
def unselect(env: Env) -> Result:
    name = env.contexts.unselect()
    line = f'Unselected the "{name}" context' if name else "No context currently selected"
    return Result([Text(line)], data={"unselected": name or None})
