"""`jsctl stream view`."""

import asyncio
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from jsctl.base.patterns import compile_pattern
from jsctl.base.units import seconds_to_ns
from jsctl.commands.cli import DURATION, argument, command, option
from jsctl.commands.picking.pick import open_stream
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.message.select import Selection, select
from jsctl.jetstream.message.translate import split_command
from jsctl.nats.message import Message
from jsctl.nats.subjects import is_subject
from jsctl.views.events import Events
from jsctl.views.stream import messages as messages_view

if TYPE_CHECKING:
    from jsctl.schema.remote.json_payloads import JsonDecoder

_PAGE = 10

Batches = AsyncGenerator[Sequence[Message], None]


@dataclass(frozen=True, slots=True)
class Options:
    """The flags. since: ns."""

    stream: str
    size: int | None
    start: int | None
    since: int | None
    raw: bool
    translate: str
    subject: str
    match: str
    follow: bool
    registry: str

    def __post_init__(self) -> None:
        if self.start is not None and self.since is not None:
            raise BadInput("--id and --since cannot be used together")
        if self.registry and self.translate:
            raise BadInput("--registry and --translate cannot be used together")
        if self.subject and not is_subject(self.subject):
            raise BadInput(f"{self.subject!r} is not a valid subject")


@command(
    "view",
    examples=[
        "jsctl stream view ORDERS",
        "jsctl stream view ORDERS 25 --id 1000",
        "jsctl stream view ORDERS --since 1h --subject 'ORDERS.eu.>' --match 'total.*[0-9]{4}'",
        "jsctl stream view ORDERS --since 0s --follow",
        "jsctl stream view ORDERS --raw | head",
    ],
)
@argument("stream", default="")
@argument("size", type=click.IntRange(min=1), required=False)
@option("--id", "start", type=click.IntRange(min=1), metavar="ID", help="Start at this sequence")
@option(
    "--since",
    type=DURATION,
    metavar="DURATION",
    help="Start with messages that are at most this old",
)
@option("--raw", is_flag=True, help="Show payloads only; in a pipe byte for byte, each with a line end")
@option("--translate", metavar="COMMAND", default="", help="Show payloads as this command translates them")
@option(
    "--subject", metavar="SUBJECT", default="", help="Only messages on this subject; may contain wildcards"
)
@option("--match", metavar="REGEX", default="", help="Only messages whose payload matches")
@option("--follow", is_flag=True, help="Keep showing new messages until ctrl-C")
@option(
    "--registry",
    metavar="URL",
    default="",
    help="Show payloads as JSON, by the schemas in this schema registry whose ids they begin with",
)
async def view(env: Env, options: Options) -> Events[Message]:
    """Show pages of SIZE messages (10) on a terminal, and ask after each; in a pipe, the first SIZE or all.
    No consumer is created, and nothing is acknowledged: it works on work queues, too.
    """
    if options.raw and env.wants_json:
        raise BadInput("--raw and --json cannot be used together")
    match = os.fsencode(options.match)
    pattern = compile_pattern(match, flag="--match") if match else None
    api, name = await open_stream(env, options.stream)
    paged = env.is_terminal and env.can_ask and env.form == "table" and not options.follow
    size = options.size or (_PAGE if paged else 0)
    selection = Selection(
        start=options.start or 1,
        since=None if options.since is None else seconds_to_ns(env.clock()) - options.since,
        subject=options.subject,
        pattern=pattern,
        follow=options.follow,
        limit=size,
        translate=split_command(options.translate) if options.translate else (),
    )
    batches = select(api, name, selection, batch=1) if paged else select(api, name, selection)
    if options.registry:
        batches = _decode(batches, _build_decoder(env, options.registry))
    if env.is_terminal and not env.wants_json:
        batches = _page_interactively(env, batches, size if paged else 0)
    return messages_view.several(batches, raw=options.raw, limit=0 if paged else size, follow=options.follow)


def _build_decoder(env: Env, registry: str) -> "JsonDecoder":
    from jsctl.schema.remote.json_payloads import JsonDecoder  # slow to import
    from jsctl.schema.remote.registry import open_registry, parse_url, read_login

    return JsonDecoder(open_registry(parse_url(registry), read_login(env.environ)))


async def _decode(batches: Batches, decoder: "JsonDecoder") -> Batches:
    """Yield the messages with payloads as JSON."""
    async with aclosing(batches):
        async for batch in batches:
            datas = await asyncio.to_thread(lambda: [decoder.decode(message.data) for message in batch])  # noqa: B023
            yield [message.with_data(data) for message, data in zip(batch, datas, strict=True)]


async def _page_interactively(env: Env, batches: Batches, page: int) -> Batches:
    """Yield the messages, ask after each `page` of them whether to continue (0: never), and report the end of
    the data.
    """
    count = 0
    async with aclosing(batches):
        async for batch in batches:
            asks = page and count and count % page == 0
            if asks and not await env.prompter.confirm("Next Page?", flag="SIZE", default=True):
                return
            count += len(batch)
            yield batch
    env.inform("Reached apparent end of data")
