"""`jsctl server stream-check`."""

from typing import Any

from jsctl.commands.cli import command
from jsctl.commands.options.watch import Report
from jsctl.commands.server.replica_flags import replica_flags, report
from jsctl.env import Env
from jsctl.monitor.server.replicas import list_stream_replicas
from jsctl.views.server import replicas as view


@command(
    "stream-check",
    columns=view.STREAMS,
    examples=["jsctl server stream-check", "jsctl server stream-check --stream ORDERS --unsynced --health"],
)
@replica_flags
async def stream_check(env: Env, flags: dict[str, Any]) -> Report:
    """Show each stream as each of its servers has it; a star marks the leader. While messages arrive,
    replicas differ for a moment. A login of the system account is needed.
    """
    return await report(env, flags, list_stream_replicas, view.streams)
