"""Flags of `jsctl server check` itself."""

from typing import Any

from jsctl.commands.cli import command
from jsctl.commands.server.check.flags import GROUP, group_flags
from jsctl.env import Env


@command(
    "check", examples=["jsctl server check connection", "jsctl server check --format prometheus jetstream"]
)
@group_flags
def check(env: Env, **flags: Any) -> None:
    """Exits with 0 if all is well, 1 for a warning, 2 if something is critical. A critical threshold below
    the one for warnings inverts both: then small numbers are bad.
    """
    env.flags[GROUP] = flags
