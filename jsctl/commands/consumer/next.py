"""`jsctl consumer next`."""

from dataclasses import dataclass
from typing import Any

import click

from jsctl.commands.cli import DURATION, argument, command, option
from jsctl.commands.options.decoding import Decoding, decoding_flags
from jsctl.commands.picking.pick import open_consumer
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.message.deliveries import Deliveries
from jsctl.nats.acks import ACK, NAK, TERM
from jsctl.render.closed_pipe import is_pipe
from jsctl.views.consumer import next as view
from jsctl.views.events import Events
from jsctl.views.message.decoded import decode_events


@dataclass(frozen=True, slots=True)
class Options:
    """The flags. wait: ns."""

    stream: str
    consumer: str
    ack: bool | None
    nak: bool
    term: bool
    raw: bool
    wait: int
    count: int
    group: str
    decoding: Decoding

    def __post_init__(self) -> None:
        if (self.ack and (self.nak or self.term)) or (self.nak and self.term):
            raise BadInput("--ack, --nak and --term cannot be used together")

    @property
    def acknowledgement(self) -> bytes | None:
        """How to acknowledge; None for not at all."""
        if self.term:
            return TERM
        if self.nak:
            return NAK
        return None if self.ack is False else ACK


@command(
    "next",
    examples=[
        "jsctl consumer next ORDERS DISPATCH",
        "jsctl consumer next ORDERS DISPATCH --count 100 --raw",
        "jsctl consumer next aggregate-test-leaf dur --js-api-prefix JS.acc@hub.API",
    ],
)
@argument("stream", default="")
@argument("consumer", default="")
@option("--ack/--no-ack", default=None, help="Acknowledge what is received (default)")
@option("--nak", is_flag=True, help="Acknowledge negatively: messages are delivered again")
@option("--term", is_flag=True, help="Terminate messages: they are not delivered again")
@option("--raw", "-r", is_flag=True, help="Show payloads only, byte for byte, each followed by a line end")
@option(
    "--wait",
    type=DURATION,
    default=0,
    metavar="DURATION",
    help="Wait up to DURATION before acknowledging",
)
@option("--count", type=click.IntRange(min=1), default=1, metavar="NUMBER", help="Messages to fetch (1)")
@option("--group", metavar="GROUP", default="", help="Priority group to pull for")
@decoding_flags
async def next_message(env: Env, options: Options) -> Events[Any]:
    """End after --count messages, or when none arrives within --timeout. This needs permission to publish to
    $JS.API.CONSUMER.MSG.NEXT.STREAM.CONSUMER and $JS.ACK.STREAM.CONSUMER.> only.
    """
    reader = options.decoding.build_reader(env)
    api, stream, consumer = await open_consumer(env, options.stream, options.consumer)
    deliveries = Deliveries(
        api,
        stream,
        consumer,
        limit=options.count,
        ack=options.acknowledgement,
        wait=options.wait,
        group=options.group,
        one_by_one=is_pipe(env.streams.stdout),
    )
    return decode_events(view.events(deliveries, env.clock, raw=options.raw), reader, view.LENS)
