"""The flags of `jsctl errors`."""

from jsctl.commands.cli import command, option
from jsctl.env import Env


@command("errors", examples=["jsctl errors ls", "jsctl errors lookup 10059"])
@option("--errors", "errors_file", metavar="FILE", default="", help="Use the errors of this file")
def errors(env: Env, errors_file: str) -> None:
    env.flags["errors_file"] = errors_file
