"""Flags of `jsctl stream` itself."""

from jsctl.commands.cli import command, option
from jsctl.env import Env


@command("stream", examples=["jsctl stream add ORDERS --subjects 'ORDERS.>' --defaults", "jsctl stream ls"])
@option("--all", "-a", "all_streams", is_flag=True, help="Include system streams when listing or selecting")
def stream(env: Env, all_streams: bool) -> None:
    """JetStream streams: create, inspect, change, back up and remove them"""
    env.flags["all_streams"] = all_streams
