"""`jsctl stream view`."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from jsctl.base.units import seconds_to_ns
from jsctl.commands.cli import DURATION, argument, command, option
from jsctl.commands.options.decoding import Decoding, decoding_flags, match_flag
from jsctl.commands.picking.pick import open_stream
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.message.select import Selection, select
from jsctl.jetstream.message.translate import split_command
from jsctl.nats.subjects import is_subject
from jsctl.views.events import Events, close_after
from jsctl.views.message.decoded import MESSAGES, decode_events
from jsctl.views.stream import messages as messages_view

if TYPE_CHECKING:
    from jsctl.jetstream.find.expression import Condition

_PAGE = 10


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
    condition: "Condition | None"
    follow: bool
    decoding: Decoding

    def __post_init__(self) -> None:
        if self.start is not None and self.since is not None:
            raise BadInput("--id and --since cannot be used together")
        if self.translate and (self.decoding.is_asked_for or self.condition is not None):
            raise BadInput(
                "--translate cannot be used with --match and with flags that decode",
                "payloads are translated by the command or decoded",
            )
        if self.subject and not is_subject(self.subject):
            raise BadInput(f"{self.subject!r} is not a valid subject")


@command(
    "view",
    examples=[
        "jsctl stream view ORDERS",
        "jsctl stream view ORDERS 25 --id 1000",
        "jsctl stream view ORDERS --since 1h --subject 'ORDERS.eu.>' --match 'total > 1000'",
        "jsctl stream view ORDERS --since 0s --follow",
        "jsctl stream view ORDERS --raw | head",
        "jsctl stream view ORDERS --decode msgpack --fields id,customer.name --json",
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
@match_flag
@option("--follow", is_flag=True, help="Keep showing new messages until ctrl-C")
@decoding_flags
async def view(env: Env, options: Options) -> Events[Any]:
    """Show pages of SIZE messages (10) on a terminal, and ask after each; in a pipe, the first SIZE or all.
    No consumer is created, and nothing is acknowledged: it works on work queues, too.
    """
    if options.raw and env.wants_json:
        raise BadInput("--raw and --json cannot be used together")
    reader = options.decoding.build_reader(env, options.condition)
    api, name = await open_stream(env, options.stream)
    paged = env.is_terminal and env.can_ask and env.form == "table" and not options.follow
    size = options.size or (_PAGE if paged else 0)
    selection = Selection(
        start=options.start or 1,
        since=None if options.since is None else seconds_to_ns(env.clock()) - options.since,
        subject=options.subject,
        follow=options.follow,
        limit=0 if options.condition else size,
        translate=split_command(options.translate) if options.translate else (),
    )
    batches = select(api, name, selection, batch=1) if paged else select(api, name, selection)
    shown = messages_view.several(batches, raw=options.raw, limit=0 if paged else size, follow=options.follow)
    events = decode_events(shown, reader, MESSAGES)
    if env.is_terminal and not env.wants_json:
        return events._replace(batches=_page_interactively(env, events.batches, size if paged else 0))
    return events


async def _page_interactively(
    env: Env, batches: AsyncIterator[Sequence[Any]], page: int
) -> AsyncGenerator[Sequence[Any], None]:
    """Yield the messages, ask after each `page` of them whether to continue (0: never), and report the end of
    the data.
    """
    count = 0
    async with close_after(batches):
        async for batch in batches:
            asks = page and count and count % page == 0
            if asks and not await env.prompter.confirm("Next Page?", flag="SIZE", default=True):
                return
            count += len(batch)
            yield batch
    env.inform("Reached apparent end of data")
