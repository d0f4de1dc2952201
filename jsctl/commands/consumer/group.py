"""Flags of `jsctl consumer` and of all its commands."""

from jsctl.commands.cli import GroupOption, command
from jsctl.env import Env


@command(
    "consumer", examples=["jsctl consumer add ORDERS NEW --pull --defaults", "jsctl consumer next ORDERS NEW"]
)
def consumer(env: Env) -> None: ...


consumer.params.append(
    GroupOption(
        "--all", "-a", "all_streams", is_flag=True, help="Include system streams when listing or selecting"
    )
)
