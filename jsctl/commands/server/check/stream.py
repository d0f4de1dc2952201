"""`jsctl server check stream`."""

from collections.abc import Mapping
from typing import Any

from jsctl.commands.cli import DURATION, command, option
from jsctl.commands.server.check.flags import limits_of, run_check
from jsctl.env import Env
from jsctl.monitor.check.outcome import Check
from jsctl.monitor.check.streams import check_stream
from jsctl.views.result import Result


@command("stream", examples=["jsctl server check stream --stream ORDERS --lag-critical 100 --msgs-warn 1"])
@option("--stream", required=True, noun="stream", metavar="STREAM", help="The stream")
@option(
    "--lag-critical",
    into="thresholds",
    type=int,
    metavar="MESSAGES",
    help="Critical above this lag of a mirror or source",
)
@option(
    "--seen-critical",
    into="thresholds",
    type=DURATION,
    metavar="DURATION",
    help="Critical if an origin was seen longer ago",
)
@option("--min-sources", into="thresholds", type=int, metavar="N", help="Critical with fewer sources")
@option("--max-sources", into="thresholds", type=int, metavar="N", help="Critical with more sources")
@option(
    "--peer-expect", into="thresholds", type=int, metavar="N", help="Critical with another number of replicas"
)
@option(
    "--peer-lag-critical",
    into="thresholds",
    type=int,
    metavar="OPERATIONS",
    help="Critical above this lag of a replica",
)
@option(
    "--peer-seen-critical",
    into="thresholds",
    type=DURATION,
    metavar="DURATION",
    help="Critical if a replica was seen longer ago",
)
@option("--msgs-warn", into="thresholds", type=int, metavar="N", help="Warn with fewer messages")
@option("--msgs-critical", into="thresholds", type=int, metavar="N", help="Critical with fewer messages")
@option(
    "--subjects-warn", into="thresholds", type=int, metavar="N", help="Warn above this number of subjects"
)
@option(
    "--subjects-critical",
    into="thresholds",
    type=int,
    metavar="N",
    help="Critical above this number of subjects",
)
async def stream(env: Env, stream: str, thresholds: Mapping[str, Any]) -> Result:
    """Thresholds may stand in the metadata of the stream, too: io.nats.monitor.lag-critical: 200."""

    async def check() -> Check:
        return await check_stream(await env.jetstream(), stream, limits_of(thresholds))

    return await run_check(env, "stream", stream, check())
