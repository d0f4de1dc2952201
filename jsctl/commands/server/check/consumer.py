"""`jsctl server check consumer`."""

from jsctl.commands.cli import DURATION, command, option
from jsctl.commands.server.check.flags import Thresholds, merge_thresholds, run_check, threshold
from jsctl.env import Env
from jsctl.monitor.check.outcome import Check
from jsctl.monitor.check.streams import check_consumer
from jsctl.views.result import Result


@command(
    "consumer",
    examples=["jsctl server check consumer --stream ORDERS --consumer NEW --unprocessed-critical 1000"],
)
@option("--stream", required=True, noun="stream", metavar="STREAM", help="The stream")
@option("--consumer", required=True, metavar="CONSUMER", help="The consumer")
@threshold("--outstanding-ack-critical", int, "N", "Critical from this number of unacknowledged messages on")
@threshold("--waiting-critical", int, "N", "Critical from this number of waiting pulls on")
@threshold("--unprocessed-critical", int, "N", "Critical from this number of unprocessed messages on")
@threshold(
    "--last-delivery-critical", DURATION, "DURATION", "Critical if nothing was delivered for this time"
)
@threshold("--last-ack-critical", DURATION, "DURATION", "Critical if nothing was acknowledged for this time")
@threshold("--redelivery-critical", int, "N", "Critical from this number of redeliveries on")
@option("--pinned", is_flag=True, help="Every group must have a pinned client")
async def consumer(env: Env, stream: str, consumer: str, pinned: bool, thresholds: Thresholds) -> Result:
    """Read thresholds from the metadata of the consumer, too: io.nats.monitor.waiting-critical: 20."""

    async def check() -> Check:
        api = await env.jetstream()
        return await check_consumer(api, stream, consumer, merge_thresholds(thresholds), pinned=pinned)

    return await run_check(env, "consumer", f"{stream}_{consumer}", check())
