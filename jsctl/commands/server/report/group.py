"""Flags of `jsctl server report` and of all its commands."""

from jsctl.commands.cli import GroupOption, command
from jsctl.env import Env


@command("report", examples=["jsctl server report jetstream", "jsctl server report jetstream --sort msgs -R"])
def report(env: Env) -> None:
    """Ask all servers, which needs a login of the system account."""


report.params.append(GroupOption("--reverse", "-R", is_flag=True, help="Largest first"))
