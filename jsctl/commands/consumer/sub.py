"""`jsctl consumer sub`."""

from typing import Any

import click

from jsctl.commands.cli import argument, command, option
from jsctl.commands.options.decoding import Decoding, decoding_flags
from jsctl.commands.options.idle import choose_idle_limit
from jsctl.commands.picking.pick import open_consumer
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.message.deliveries import Deliveries
from jsctl.jetstream.message.receive import Receiver
from jsctl.jetstream.message.receive_options import ReceiveOptions, StreamSource
from jsctl.nats.acks import ACK
from jsctl.render.closed_pipe import is_pipe
from jsctl.views.consumer import next as next_view
from jsctl.views.events import Events
from jsctl.views.message import subscribe as view
from jsctl.views.message.decoded import decode_events

HELP = """\
Without --count, it takes one message from a pull consumer, as `consumer next` does, and messages until ctrl-C
from a push consumer. With --count 0, it continues until ctrl-C with either.
"""


@command(
    "sub",
    help=HELP,
    examples=["jsctl consumer sub ORDERS MONITOR", "jsctl consumer sub ORDERS NEW --count 100 --raw"],
)
@argument("stream", default="")
@argument("consumer", default="")
@option("--ack/--no-ack", default=None, help="Acknowledge what is received (if the consumer expects it)")
@option("--raw", "-r", is_flag=True, help="Show only payloads, one per line")
@option("--deliver-group", metavar="GROUP", default="", help="Queue group that a push consumer delivers to")
@option("--count", type=click.IntRange(min=0), metavar="N", help="End after N messages; 0 is unlimited")
@decoding_flags
async def sub(
    env: Env,
    stream: str,
    consumer: str,
    ack: bool | None,
    raw: bool,
    deliver_group: str,
    count: int | None,
    decoding: Decoding,
) -> Events[Any]:
    reader = decoding.build_reader(env)
    api, stream, consumer = await open_consumer(env, stream, consumer)
    config = (await consumers.fetch_info(api, stream, consumer))["config"]
    if deliver_group and deliver_group != config.get("deliver_group"):
        group = config.get("deliver_group") or "none"
        raise BadInput(
            f"consumer {stream} > {consumer} does not deliver to {deliver_group}", f"its group: {group}"
        )
    if count is None and not config.get("deliver_subject"):
        wants_ack = config.get("ack_policy", "none") != "none" if ack is None else ack
        deliveries = Deliveries(
            api, stream, consumer, ack=ACK if wants_ack else None, one_by_one=is_pipe(env.streams.stdout)
        )
        return decode_events(next_view.events(deliveries, env.clock, raw=raw), reader, next_view.LENS)
    quiet = raw or env.wants_json
    receiver = Receiver(
        api.connection,
        ReceiveOptions(stream=StreamSource(name=stream, durable=consumer), limit=count or 0, ack=ack),
        api=api,
        warn=env.say,
        announce=(lambda text: None) if quiet else env.say,
    )
    events = decode_events(
        view.events(receiver, receiver.read_batches(), view.Show(raw=raw)), reader, view.LENS
    )
    return events.end_after(choose_idle_limit(env, 0, count or 0))
