"""Flags of `jsctl errors` and of all its commands."""

from jsctl.commands.cli import GroupOption, command
from jsctl.env import Env


@command("errors", examples=["jsctl errors ls", "jsctl errors lookup 10059"])
def errors(env: Env) -> None: ...


errors.params.append(
    GroupOption("--errors", "errors_file", metavar="FILE", help="Use the errors of this file")
)
