"""`jsctl stream search`."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from jsctl.base.units import pluralize, seconds_to_ns
from jsctl.commands.cli import DURATION, argument, command, option
from jsctl.commands.options.decoding import Decoding, decoding_flags, match_flag
from jsctl.commands.picking.pick import pick_streams
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.api import Api
from jsctl.jetstream.message.select import Selection, select_from_several
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.message import Message
from jsctl.nats.subjects import is_subject
from jsctl.views.events import Events
from jsctl.views.message.decoded import MESSAGES, decode_events
from jsctl.views.stream import messages as view

if TYPE_CHECKING:
    from jsctl.jetstream.find.expression import Condition


@dataclass(frozen=True, slots=True)
class Options:
    """The flags. since: ns. max_rate: messages per second; 0 for no limit."""

    stream: tuple[str, ...]
    condition: "Condition | None"
    start: int
    since: int | None
    subject: str
    count: int
    max_rate: int
    raw: bool
    decoding: Decoding

    def __post_init__(self) -> None:
        if self.condition is None:
            raise BadInput("--match is missing", "jsctl stream view shows all messages")
        if self.since is not None and self.start > 1:
            raise BadInput("--id and --since cannot be used together")
        if self.subject and not is_subject(self.subject):
            raise BadInput(f"{self.subject!r} is not a valid subject")


@command(
    "search",
    examples=[
        "jsctl stream search ORDERS --match 'order == 77'",
        "jsctl stream search 'ORDERS_*' RETURNS --match 'amount > 100 and country == \"nl\"' --since 1d",
        "jsctl stream search ORDERS --match 'text matches \"timeout|refused\"' --max-rate 5000",
        "jsctl stream search ORDERS --decode msgpack --match 'order == 77' --count 1 --json",
    ],
)
@argument("stream", nargs=-1)
@match_flag
@option("--id", "start", type=click.IntRange(min=1), default=1, metavar="ID", help="Start at this sequence")
@option("--since", type=DURATION, metavar="DURATION", help="Start with messages that are at most this old")
@option(
    "--subject", metavar="SUBJECT", default="", help="Only messages on this subject; may contain wildcards"
)
@option("--count", type=click.IntRange(min=0), default=0, metavar="N", help="End after N that match")
@option(
    "--max-rate",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Read at most N messages per second, of all streams together; 0: no limit",
)
@option("--raw", is_flag=True, help="Show payloads only; in a pipe byte for byte, each with a line end")
@decoding_flags
async def search(env: Env, options: Options) -> Events[Any]:
    """Search the messages that the streams, names or patterns, hold when it starts; a few streams are read at
    the same time. No consumer is created, and nothing is acknowledged: it works on work queues, too.
    The fields of the payload are names in --match; jsctl manual messages lists the other ones.
    """
    if options.raw and env.wants_json:
        raise BadInput("--raw and --json cannot be used together")
    reader = options.decoding.build_reader(env, options.condition)
    api = await env.jetstream()
    infos = await streams.fetch_infos(api, await pick_streams(env, api, options.stream))
    states: dict[str, Any] = {info["config"]["name"]: info["state"] for info in infos}
    batches = _read(env, api, states, options)
    shown = view.several(batches, raw=options.raw, limit=options.count, names_stream=len(states) > 1)
    return decode_events(shown, reader, MESSAGES)


async def _read(
    env: Env, api: Api, states: Mapping[str, Any], options: Options
) -> AsyncGenerator[Sequence[Message], None]:
    """Yield the messages of the streams, and show how many have been read."""
    selection = Selection(
        start=options.start,
        since=None if options.since is None else seconds_to_ns(env.clock()) - options.since,
        subject=options.subject,
    )
    last = {name: int(state["last_seq"]) for name, state in states.items() if state["messages"]}
    total = sum(int(state["messages"]) for state in states.values())
    batches = select_from_several(api, last, selection, max_rate=options.max_rate)
    count = 0
    with env.progress("Searching", total) as advance:
        async with aclosing(batches):
            async for batch in batches:
                count += len(batch)
                advance(len(batch))
                yield batch
    env.inform(f"Read {pluralize(count, 'message')} of {pluralize(len(states), 'stream')}")
