"""When events that do not come end a command."""

from jsctl.commands.cli import DURATION, option
from jsctl.env import Env

wait_flag = option(
    "--wait",
    type=DURATION,
    default=0,
    metavar="DURATION",
    help="End after this time without an event; so does --timeout with --count",
)


def idle_limit(env: Env, wait: int, count: int) -> int:
    """Return ns without an event after which to end: --wait, or with --count the --timeout that was given.

    0 means that there is none.
    """
    if wait or not count or "timeout" in env.from_environment:
        return wait
    return int(env.flags.get("timeout") or 0)
