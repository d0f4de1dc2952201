"""Flags of `jsctl consumer` itself."""

from jsctl.commands.cli import command, option
from jsctl.env import Env


@command(
    "consumer", examples=["jsctl consumer add ORDERS NEW --pull --defaults", "jsctl consumer next ORDERS NEW"]
)
@option("--all", "-a", "all_streams", is_flag=True, help="Include system streams when listing or selecting")
def consumer(env: Env, all_streams: bool) -> None:
    env.flags["all_streams"] = all_streams
