"""`jsctl consumer sub`."""

import click

from jsctl.commands.cli import argument, command, option
from jsctl.commands.shared.pick import pick_consumer
from jsctl.commands.shared.received import Show
from jsctl.commands.shared.receiving import Options, Session
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.consumer import requests as consumers
from jsctl.views.result import Result


@command(
    "sub", examples=["jsctl consumer sub ORDERS MONITOR", "jsctl consumer sub ORDERS NEW --count 100 --raw"]
)
@argument("stream", default="")
@argument("consumer", default="")
@option("--ack/--no-ack", default=None, help="Acknowledge what is received (when the consumer wants it)")
@option("--raw", "-r", is_flag=True, help="Payloads alone; in a pipe byte for byte, a line end after each")
@option("--deliver-group", metavar="GROUP", default="", help="Queue group that a push consumer delivers to")
@option("--count", type=click.IntRange(min=0), metavar="N", default=0, help="End after so many messages")
async def sub(
    env: Env, stream: str, consumer: str, ack: bool | None, raw: bool, deliver_group: str, count: int
) -> Result | None:
    api = await env.jetstream()
    stream, consumer = await pick_consumer(env, api, stream, consumer)
    config = (await consumers.info(api, stream, consumer))["config"]
    if deliver_group and deliver_group != config.get("deliver_group"):
        group = config.get("deliver_group") or "none"
        raise BadInput(
            f"consumer {stream} > {consumer} does not deliver to {deliver_group}", f"its group: {group}"
        )
    show = Show(raw=raw, single=count == 1)
    options = Options(
        subjects=[], queue="", inbox=False, show=show, limit=count, wait=0, ignored=[], match=False, ack=ack,
        report="", top=10, graph=False, jetstream=True, stream=stream, start={}, durable=consumer,
        direct=False, to_end=False,
    )  # fmt: skip
    return await Session(env, options, await env.connection()).run()
