"""`jsctl bench js get`: sync, batch."""

import click

from jsctl.bench.plan import STREAM
from jsctl.commands.bench.flags import parse_shared
from jsctl.commands.bench.running import make_plan, run
from jsctl.commands.cli import command, option
from jsctl.env import Env
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.subjects import validate_subject
from jsctl.views.result import Result


@command("sync", examples=["jsctl bench js get sync", "jsctl bench js get sync --clients 4 --msgs 10000"])
async def sync(env: Env) -> Result:
    """Get one message after the other in each client, from the start of the stream, and start again after the
    last one.
    """
    flags = parse_shared(env, "js get sync")
    plan = make_plan("js get sync", flags, name=flags.stream or STREAM)
    await streams.fetch_info(await env.jetstream(), plan.name)
    return await run(env, plan, flags)


@command(
    "batch",
    examples=["jsctl bench js get batch", "jsctl bench js get batch --batch 1000 --filter 'events.*'"],
)
@option(
    "--batch",
    type=click.IntRange(min=1),
    default=500,
    metavar="N",
    help="Messages requested at once (500)",
)
@option("--filter", "subject", metavar="SUBJECT", default=">", help="Only these subjects (>)")
async def batch(env: Env, batch: int, subject: str) -> Result:
    """Work like get sync, but in batches, which need nats-server 2.11 and a stream that allows direct
    gets.
    """
    flags = parse_shared(env, "js get batch")
    validate_subject(subject, "read")
    plan = make_plan("js get batch", flags, name=flags.stream or STREAM, batch=batch, filters=(subject,))
    await streams.fetch_info(await env.jetstream(), plan.name)
    return await run(env, plan, flags)
