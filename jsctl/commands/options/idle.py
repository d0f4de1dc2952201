"""The silence after which a command ends."""

from jsctl.commands.cli import DURATION, option
from jsctl.env import Env

wait_flag = option(
    "--wait",
    type=DURATION,
    default=0,
    metavar="DURATION",
    help="End after this time without an event; so does --timeout with --count",
)


def choose_idle_limit(env: Env, wait: int, count: int) -> int:
    """Return the ns without an event after which to end: --wait, or with --count the --timeout that was
    given.

    0 means no limit.
    """
    return wait if wait or not count else find_time_limit(env)


def find_time_limit(env: Env) -> int:
    """Return the --timeout of the command line in ns, for a verb that ends then; 0 without one."""
    return 0 if "timeout" in env.from_environment else int(env.flags.get("timeout") or 0)
