"""Flags of `jsctl stream` and of all its commands."""

from jsctl.commands.cli import GroupOption, command
from jsctl.env import Env


@command("stream", examples=["jsctl stream add ORDERS --subjects 'ORDERS.>' --defaults", "jsctl stream ls"])
def stream(env: Env) -> None: ...


stream.params.append(
    GroupOption(
        "--all", "-a", "all_streams", is_flag=True, help="Include system streams when listing or selecting"
    )
)
