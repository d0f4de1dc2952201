"""`jsctl server network topology`."""

from jsctl.commands.cli import argument, command
from jsctl.env import Env
from jsctl.localserver.spec_reader import BUILTIN, read_description
from jsctl.views.result import Result, Text


@command(
    "topology",
    examples=["jsctl server network topology", "jsctl server network topology hub-leaf > mine.yaml"],
)
@argument("name", required=False, default="", metavar="[NAME]")
async def topology(env: Env, name: str) -> Result:
    """Print a file that jsctl server network up FILE starts. Without a name, print the names."""
    if not name:
        return Result([Text("\n".join(BUILTIN), whole=True)], data=list(BUILTIN))
    text = read_description(name)
    return Result([Text(text.rstrip(), whole=True)], data=text)
