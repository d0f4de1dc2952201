"""`jsctl bench js pub`: sync, async, batch, fast."""

from dataclasses import dataclass
from typing import Any

import click

from jsctl.bench import targets
from jsctl.bench.plan import STREAM, Kind
from jsctl.commands.bench.flags import SendingFlags, max_bytes_flag, parse_shared, sending_flags
from jsctl.commands.bench.running import DRY_RUN, announce, create_stream, make_plan, purge, run
from jsctl.commands.cli import DURATION, argument, command, declare_all, destructive, option
from jsctl.commands.cli.declare import Decorator
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.message.publish_atomic import MAX_BATCH
from jsctl.nats.subjects import validate_subject
from jsctl.views.result import Result


@dataclass(frozen=True, slots=True)
class TargetFlags:
    """The stream to publish to. maxbytes: bytes. dedupwindow: ns."""

    create: bool
    storage: str
    replicas: int
    maxbytes: int
    dedup: bool
    dedupwindow: int
    persistasync: bool
    purge: bool
    force: bool

    def __post_init__(self) -> None:
        if self.persistasync and self.replicas > 1:
            raise BadInput("--persistasync is for streams with one replica")
        if self.dedupwindow < 0:
            raise BadInput("--dedupwindow must not be negative")

    def settings(self) -> dict[str, Any]:
        """Return the keys of the stream's configuration."""
        settings: dict[str, Any] = {
            "storage": self.storage,
            "num_replicas": self.replicas,
            "max_bytes": self.maxbytes,
            "duplicate_window": self.dedupwindow,
        }
        return {**settings, "persist_mode": "async"} if self.persistasync else settings


_publish_flags = declare_all(
    argument("subject"),
    sending_flags,
    option("--create", is_flag=True, help="Create the stream, or change it to match the flags"),
    option(
        "--storage",
        type=click.Choice(["file", "memory"]),
        default="file",
        help="Storage of the stream (file)",
    ),
    option(
        "--replicas", type=click.IntRange(1, 5), default=1, metavar="N", help="Replicas of the stream (1)"
    ),
    max_bytes_flag("the stream"),
    option("--dedup", is_flag=True, help="Give each message an ID, so that the stream detects duplicates"),
    option(
        "--dedupwindow",
        type=DURATION,
        default=120 * 10**9,
        metavar="DURATION",
        help="How long the stream remembers IDs (2m)",
    ),
    option("--persistasync", is_flag=True, help="Let the stream write to disk later; needs one replica"),
    option("--purge", is_flag=True, help="Remove the stream's messages first"),
    destructive("Change or purge a stream that no benchmark created, without asking", DRY_RUN),
)


def _batch_flag(text: str, maximum: int | None = None) -> Decorator:
    return option("--batch", type=click.IntRange(1, maximum), default=500, metavar="N", help=f"{text} (500)")


async def _publish(
    env: Env,
    kind: Kind,
    subject: str,
    sending: SendingFlags,
    target: TargetFlags,
    batch: int,
    max_acks: int = 0,
) -> Result:
    flags = parse_shared(env, kind)
    validate_subject(subject, "publish to")
    if target.persistasync and kind in ("js pub batch", "js pub fast"):
        raise BadInput("--persistasync cannot be used with batches")
    plan = make_plan(
        kind,
        flags,
        subject=subject,
        name=flags.stream or STREAM,
        subjects=sending.subjects,
        random=sending.multisubjectrandomize,
        payload=sending.payload(flags.size),
        header_block=sending.header_block(),
        batch=batch,
        max_acks=max_acks,
        ids=target.dedup,
    )
    api = await env.jetstream()
    config = await targets.build_stream_config(api, plan, target.settings()) if target.create else None
    await announce(env, api, plan, plan.name, purges=target.purge, creates=config)
    if config:
        await create_stream(env, api, config, force=target.force)
    info = await targets.prepare_stream(api, plan)
    if target.purge:
        await purge(env, api, info, force=target.force)
    return await run(env, plan, flags)


@command(
    "sync",
    examples=[
        "jsctl bench js pub sync events --create",
        "jsctl bench js pub sync events --clients 4 --purge",
    ],
)
@_publish_flags
async def sync(env: Env, subject: str, sending: SendingFlags, target: TargetFlags) -> Result:
    """Send the next message of each client after the ack of the last."""
    return await _publish(env, "js pub sync", subject, sending, target, 1)


@command(
    "async",
    examples=[
        "jsctl bench js pub async events --create --storage memory",
        "jsctl bench js pub async events --batch 1000 --rate 20000 --plot",
    ],
)
@_publish_flags
@_batch_flag("Messages sent ahead of their acks")
async def async_(env: Env, subject: str, sending: SendingFlags, target: TargetFlags, batch: int) -> Result:
    """Receive acks while further messages are sent; latency is the time from a message to its ack."""
    return await _publish(env, "js pub async", subject, sending, target, batch)


@command(
    "batch",
    examples=["jsctl bench js pub batch events --create", "jsctl bench js pub batch events --batch 100"],
)
@_publish_flags
@_batch_flag("Messages per batch", MAX_BATCH)
async def batch(env: Env, subject: str, sending: SendingFlags, target: TargetFlags, batch: int) -> Result:
    """Store each batch as a whole or not at all, which needs nats-server 2.12. Latency is that of whole
    batches.
    """
    return await _publish(env, "js pub batch", subject, sending, target, batch)


@command(
    "fast",
    examples=[
        "jsctl bench js pub fast events --create",
        "jsctl bench js pub fast events --max-outstanding-acks 4",
    ],
)
@_publish_flags
@_batch_flag("Messages sent ahead of their acks")
@option(
    "--max-outstanding-acks",
    type=click.IntRange(0, 65_535),
    default=0,
    metavar="N",
    help="Send up to N groups of --batch messages ahead of their acks",
)
async def fast(
    env: Env, subject: str, sending: SendingFlags, target: TargetFlags, batch: int, max_outstanding_acks: int
) -> Result:
    """Let the stream acknowledge half of --batch at once, with --max-outstanding-acks all of it, which needs
    nats-server 2.14. Latency is the time from a message to the ack of its group.
    """
    return await _publish(env, "js pub fast", subject, sending, target, batch, max_outstanding_acks)
