"""`jsctl server consumer-check`."""

from typing import Any

from jsctl.commands.cli import command, option
from jsctl.commands.server.replica_flags import read_replicas, replica_flags
from jsctl.env import Env
from jsctl.monitor.server.replicas import consumer_replicas
from jsctl.views.result import Result
from jsctl.views.server import replicas as view


@command(
    "consumer-check",
    examples=["jsctl server consumer-check", "jsctl server consumer-check --stream ORDERS --consumer NEW"],
)
@option("--consumer", metavar="CONSUMER", default="", help="Only this consumer")
@replica_flags
async def consumer_check(env: Env, consumer: str, flags: dict[str, Any]) -> Result:
    """Shows each consumer as each of its servers has it; a star marks the leader. Needs a login of the system
    account.
    """
    return view.consumers(*await read_replicas(env, flags, consumer_replicas, consumer))
