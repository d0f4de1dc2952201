"""Flags of `jsctl server report` itself."""

from jsctl.commands.cli import command, option
from jsctl.env import Env


@command("report", examples=["jsctl server report jetstream", "jsctl server report -R jetstream --sort msgs"])
@option("--reverse", "-R", is_flag=True, help="Largest first")
def report(env: Env, reverse: bool) -> None:
    """The reports need a login of the system account."""
    env.flags["reverse"] = reverse
