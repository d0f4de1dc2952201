"""`jsctl server check stream`, `consumer`, `kv`, `message` and `jetstream`: what JetStream holds."""

from jsctl.base.units import SECOND, seconds_to_ns
from jsctl.commands.cli import DURATION, command, option
from jsctl.commands.server.check.flags import Thresholds, merge_thresholds, run_check, threshold
from jsctl.env import Env
from jsctl.monitor.check.outcome import Check
from jsctl.monitor.check.streams import (
    check_account,
    check_bucket,
    check_consumer,
    check_message,
    check_stream,
)
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


@command("kv", examples=["jsctl server check kv --bucket CONFIG --key ready"])
@option("--bucket", required=True, noun="bucket", metavar="BUCKET", help="The bucket")
@option("--key", metavar="KEY", default="", help="A key that must have a value")
@threshold("--values-warn", int, "N", "Warn from this number of values on")
@threshold("--values-critical", int, "N", "Critical from this number of values on")
async def kv(env: Env, bucket: str, key: str, thresholds: Thresholds) -> Result:
    """Report a bucket that does not exist as critical."""

    async def check() -> Check:
        return await check_bucket(await env.jetstream(), bucket, key, merge_thresholds(thresholds))

    return await run_check(env, "kv", bucket, check())


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


_DEFAULTS = {
    "mem-warn": 75.0,
    "mem-critical": 90.0,
    "store-warn": 75.0,
    "store-critical": 90.0,
    "replica-seen-critical": 5.0 * SECOND,
    "replica-lag-critical": 200.0,
}


@command(
    "jetstream",
    examples=["jsctl server check jetstream", "jsctl server check jetstream --streams-warn 80"],
)
@threshold("--mem-warn", int, "PERCENT", "Warn above this percentage of the memory (75)")
@threshold("--mem-critical", int, "PERCENT", "Critical above this percentage of the memory (90)")
@threshold("--store-warn", int, "PERCENT", "Warn above this percentage of the disk space (75)")
@threshold("--store-critical", int, "PERCENT", "Critical above this percentage of the disk space (90)")
@threshold("--streams-warn", int, "PERCENT", "Warn above this percentage of the streams")
@threshold("--streams-critical", int, "PERCENT", "Critical above this percentage of the streams")
@threshold("--consumers-warn", int, "PERCENT", "Warn above this percentage of the consumers")
@threshold("--consumers-critical", int, "PERCENT", "Critical above this percentage of the consumers")
@option("--replicas/--no-replicas", default=True, help="Check the replicas of all streams")
@threshold(
    "--replica-seen-critical", DURATION, "DURATION", "Critical if a replica was last seen longer ago (5s)"
)
@threshold("--replica-lag-critical", int, "OPERATIONS", "Critical above this lag of a replica (200)")
async def jetstream(env: Env, replicas: bool, thresholds: Thresholds) -> Result:
    """Compare usage with the account's limits; percentages are of these."""

    async def check() -> Check:
        limits = merge_thresholds(thresholds, _DEFAULTS)
        return await check_account(await env.jetstream(), limits, replicas=replicas)

    return await run_check(env, "jetstream", "JetStream", check())
