"""`jsctl server consumer-check`."""

from typing import Any

from jsctl.commands.cli import command, option
from jsctl.commands.options.watch import Report
from jsctl.commands.server.replica_flags import replica_flags, report
from jsctl.env import Env
from jsctl.monitor.server.replicas import list_consumer_replicas
from jsctl.views.server import replicas as view


@command(
    "consumer-check",
    columns=view.CONSUMERS,
    examples=["jsctl server consumer-check", "jsctl server consumer-check --stream ORDERS --consumer NEW"],
)
@option("--consumer", metavar="CONSUMER", default="", help="Only this consumer")
@replica_flags
async def consumer_check(env: Env, consumer: str, flags: dict[str, Any]) -> Report:
    """Show each consumer as each of its servers has it; a star marks the leader. A login of the system
    account is needed.
    """
    return await report(env, flags, list_consumer_replicas, view.consumers, consumer)
