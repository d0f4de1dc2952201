"""`jsctl server check message`."""

from jsctl.base.units import seconds_to_ns
from jsctl.commands.cli import DURATION, command, option
from jsctl.commands.server.check.flags import Thresholds, merge_thresholds, run_check, threshold
from jsctl.env import Env
from jsctl.monitor.check.outcome import Check
from jsctl.monitor.check.streams import check_message
from jsctl.views.result import Result


@command(
    "message",
    examples=["jsctl server check message --stream ORDERS --subject ORDERS.new --age-critical 1h"],
)
@option("--stream", required=True, noun="stream", metavar="STREAM", help="The stream")
@option("--subject", metavar="SUBJECT", default=">", help="Subject of the message (>)")
@threshold("--age-warn", DURATION, "DURATION", "Warn if it is older")
@threshold("--age-critical", DURATION, "DURATION", "Critical if it is older")
@option("--content", metavar="REGEX", default=".", help="Pattern that the body must match")
@option("--body-timestamp", is_flag=True, help="The body is the message's time, in seconds since 1970")
async def message(
    env: Env, stream: str, subject: str, content: str, body_timestamp: bool, thresholds: Thresholds
) -> Result:
    async def check() -> Check:
        return await check_message(
            await env.jetstream(),
            stream,
            subject,
            merge_thresholds(thresholds),
            content=content,
            body_timestamp=body_timestamp,
            now=seconds_to_ns(env.clock()),
        )

    return await run_check(env, "message", "Stream Message", check())
