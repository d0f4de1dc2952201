"""`jsctl server check stream`."""

from jsctl.commands.cli import DURATION, command, option
from jsctl.commands.server.check.flags import Thresholds, merge_thresholds, run_check, threshold
from jsctl.env import Env
from jsctl.monitor.check.outcome import Check
from jsctl.monitor.check.streams import check_stream
from jsctl.views.result import Result


@command(
    "stream",
    examples=["jsctl server check stream --stream ORDERS --lag-critical 100 --msgs-warn 1"],
)
@option("--stream", required=True, noun="stream", metavar="STREAM", help="The stream")
@threshold("--lag-critical", int, "MESSAGES", "Critical from this lag of a mirror or source on")
@threshold("--seen-critical", DURATION, "DURATION", "Critical if an origin was last seen longer ago")
@threshold("--min-sources", int, "N", "Critical with fewer sources")
@threshold("--max-sources", int, "N", "Critical with more sources")
@threshold("--peer-expect", int, "N", "Critical with another number of replicas")
@threshold("--peer-lag-critical", int, "OPERATIONS", "Critical above this lag of a replica")
@threshold("--peer-seen-critical", DURATION, "DURATION", "Critical if a replica was last seen longer ago")
@threshold("--msgs-warn", int, "N", "Warn with this number of messages or fewer")
@threshold("--msgs-critical", int, "N", "Critical with this number of messages or fewer")
@threshold("--subjects-warn", int, "N", "Warn from this number of subjects on")
@threshold("--subjects-critical", int, "N", "Critical from this number of subjects on")
async def stream(env: Env, stream: str, thresholds: Thresholds) -> Result:
    """Read thresholds from the metadata of the stream, too: io.nats.monitor.lag-critical: 200."""

    async def check() -> Check:
        return await check_stream(await env.jetstream(), stream, merge_thresholds(thresholds))

    return await run_check(env, "stream", stream, check())
