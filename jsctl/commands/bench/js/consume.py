"""`jsctl bench js`: ordered, consume, fetch."""

from dataclasses import dataclass, replace

import click

from jsctl.bench import targets
from jsctl.bench.plan import CONSUMER, STREAM, Kind
from jsctl.commands.bench.flags import parse_shared
from jsctl.commands.bench.running import DRY_RUN, announce, make_plan, purge, run
from jsctl.commands.cli import command, declare_all, destructive, option
from jsctl.env import Env
from jsctl.jetstream.stream import requests as streams
from jsctl.views.result import Result


@dataclass(frozen=True, slots=True)
class ReadingFlags:
    """The flags of what is read of the stream."""

    batch: int
    filters: tuple[str, ...]
    purge: bool
    force: bool


@dataclass(frozen=True, slots=True)
class Options:
    consumer: str
    acks: str
    doubleack: bool
    reading: ReadingFlags


_reading_flags = declare_all(
    option(
        "--batch",
        type=click.IntRange(min=1),
        default=500,
        metavar="N",
        help="Messages requested at once (500)",
    ),
    option(
        "--filter",
        "filters",
        metavar="SUBJECT",
        multiple=True,
        help="Only these subjects; may be repeated",
    ),
    option("--purge", is_flag=True, help="Remove the stream's messages first"),
    destructive("Purge a stream that no benchmark created, without asking", DRY_RUN),
)
"""The flags of `ReadingFlags`."""

_consumer_flags = declare_all(
    _reading_flags,
    option(
        "--consumer",
        metavar="NAME",
        default=CONSUMER,
        help=f"The durable consumer; {CONSUMER} is recreated; any other must exist",
    ),
    option(
        "--acks",
        type=click.Choice(["explicit", "none", "all"]),
        default="explicit",
        help="How messages are acknowledged (explicit)",
    ),
    option("--doubleack/--no-doubleack", default=False, help="Wait until each ack is confirmed (no)"),
)


async def _consume(env: Env, kind: Kind, options: Options) -> Result:
    flags = parse_shared(env, kind)
    plan = make_plan(
        kind,
        flags,
        name=flags.stream or STREAM,
        consumer=options.consumer,
        batch=options.reading.batch,
        acks=options.acks,
        double_ack=options.doubleack,
        filters=options.reading.filters,
    )
    api, reading = await env.jetstream(), options.reading
    await announce(env, api, plan, plan.name, purges=reading.purge)
    if reading.purge:
        await purge(env, api, await streams.fetch_info(api, plan.name), force=reading.force)
    plan = replace(plan, acks=await targets.prepare_consumer(api, plan))
    return await run(env, plan, flags)


@command(
    "consume",
    examples=["jsctl bench js consume", "jsctl bench js consume --clients 2 --acks none --batch 1000"],
)
@_consumer_flags
async def consume(env: Env, options: Options) -> Result:
    """Share a durable consumer between the clients; each requests more messages before it has processed those
    it requested before.
    """
    return await _consume(env, "js consume", options)


@command(
    "fetch",
    examples=["jsctl bench js fetch", "jsctl bench js fetch --clients 2 --acks none --batch 1000"],
)
@_consumer_flags
async def fetch(env: Env, options: Options) -> Result:
    """Request the next batch when the last is complete, and otherwise work like consume; latency is that of
    batches.
    """
    return await _consume(env, "js fetch", options)


@command(
    "ordered",
    examples=["jsctl bench js ordered", "jsctl bench js ordered --filter 'events.*' --msgs 50000"],
)
@_reading_flags
async def ordered(env: Env, options: ReadingFlags) -> Result:
    """Read the stream in each client, through a consumer of its own that is removed afterwards."""
    flags = parse_shared(env, "js ordered")
    plan = make_plan(
        "js ordered", flags, name=flags.stream or STREAM, batch=options.batch, filters=options.filters
    )
    api = await env.jetstream()
    info = await streams.fetch_info(api, plan.name)
    await announce(env, api, plan, plan.name, purges=options.purge)
    if options.purge:
        await purge(env, api, info, force=options.force)
    return await run(env, plan, flags)
