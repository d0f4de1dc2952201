"""`jsctl consumer sub`."""

import click

from jsctl.commands.cli import argument, command, option
from jsctl.commands.shared.pick import pick_consumer
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.message.receive import Received, ReceiveOptions, Receiver, StreamSource
from jsctl.views.events import Events
from jsctl.views.message import subscribe as view


@command(
    "sub", examples=["jsctl consumer sub ORDERS MONITOR", "jsctl consumer sub ORDERS NEW --count 100 --raw"]
)
@argument("stream", default="")
@argument("consumer", default="")
@option("--ack/--no-ack", default=None, help="Acknowledge what is received (when the consumer wants it)")
@option("--raw", "-r", is_flag=True, help="Payloads alone; in a pipe byte for byte, a line end after each")
@option("--deliver-group", metavar="GROUP", default="", help="Queue group that a push consumer delivers to")
@option("--count", type=click.IntRange(min=0), metavar="N", default=0, help="End after N messages")
async def sub(
    env: Env, stream: str, consumer: str, ack: bool | None, raw: bool, deliver_group: str, count: int
) -> Events[Received]:
    api = await env.jetstream()
    stream, consumer = await pick_consumer(env, api, stream, consumer)
    config = (await consumers.info(api, stream, consumer))["config"]
    if deliver_group and deliver_group != config.get("deliver_group"):
        group = config.get("deliver_group") or "none"
        raise BadInput(
            f"consumer {stream} > {consumer} does not deliver to {deliver_group}", f"its group: {group}"
        )
    quiet = raw or env.wants_json
    receiver = Receiver(
        api.connection,
        ReceiveOptions(stream=StreamSource(name=stream, durable=consumer), limit=count, ack=ack),
        api=api,
        warn=env.say,
        announce=(lambda text: None) if quiet else env.say,
    )
    return view.events(receiver, receiver.batches(), view.Show(raw=raw))
