"""`jsctl request`."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from jsctl.base.units import MS, format_exact_duration, pluralize
from jsctl.commands.cli import DURATION, argument, command, option
from jsctl.commands.options.message_flags import MessageFlags, message_flags
from jsctl.env import Env
from jsctl.errors import BadInput, RequestTimeout
from jsctl.jetstream.message.stdin import Stdin
from jsctl.jetstream.message.translate import split_command, translate
from jsctl.nats import requests
from jsctl.views.events import Events
from jsctl.views.message import request as view
from jsctl.views.message.request import Reply

_ANNOUNCED = 20  #: of more requests than this only the replies are shown
_UNLIMITED = 1 << 30  #: replies

HELP = """\
Subject, body and header values may hold templates. `jsctl publish --help` lists them, and says when stdin is
the body; with --send-on newline, each line of it is a request.

In a pipe, stdout has the bodies of replies only, and stderr their headers. --raw shows each body on a line of
its own; --raw-bytes writes it byte for byte, with nothing added.

Without a responder or a reply in time, the exit status is 4.
"""


@dataclass(frozen=True, slots=True)
class Options:
    """The flags. gap: ns, at most, between two replies."""

    subject: str
    raw: bool
    raw_bytes: bool
    replies: int
    gap: int
    to_empty: bool
    translate: str
    message: MessageFlags

    def __post_init__(self) -> None:
        if self.replies < 0:
            raise BadInput("--replies must be 0 or more")


@command(
    "request",
    help=HELP,
    examples=[
        "jsctl req weather.london ''",
        "jsctl request '$JS.API.STREAM.NAMES' '' --raw",
        "jsctl req service.ping '' --replies 0 --timeout 2s",
    ],
)
@argument("subject", completes="subject")
@argument("body", required=False)
@option(
    "--wait",
    "-w",
    is_flag=True,
    hidden=True,
    expose_value=False,
    help="Accepted for compatibility: a request always waits",
)
@option("--raw", "-r", is_flag=True, help="Show only payloads, one per line")
@option("--raw-bytes", is_flag=True, help="Show payloads byte for byte, without line ends between them")
@message_flags("Send N requests")
@option("--replies", type=int, default=1, metavar="N", help="Wait for N replies (1); 0 waits until --timeout")
@option(
    "--reply-timeout",
    "gap",
    type=DURATION,
    default=300 * MS,
    metavar="DURATION",
    help="Maximum time between two replies (300ms)",
)
@option("--wait-for-empty", "to_empty", is_flag=True, help="Wait for replies until an empty one")
@option("--translate", metavar="COMMAND", default="", help="Show each payload as this command translates it")
async def request(env: Env, options: Options) -> Events[Reply]:
    return ask(env, options)


def ask(env: Env, options: Options) -> Events[Reply]:
    """Return the replies to the requests that the options describe."""
    options = replace(options, raw=options.raw or options.raw_bytes)
    return view.events(
        _send_requests(env, options, options.message.find_body(env)),
        raw=options.raw,
        exact=options.raw_bytes,
        quiet=env.wants_json,
        with_headers=env.is_terminal,
    )


async def _send_requests(
    env: Env, options: Options, body: bytes | Stdin
) -> AsyncGenerator[Sequence[Reply], None]:
    """Send the requests, one after the other, and yield each reply."""
    messages = options.message.compose(env, options.subject, body, singly=True)
    connection = await env.connection()
    limits = requests.ReplyLimits(
        replies=_UNLIMITED if options.to_empty else options.replies,
        gap=options.gap,
        to_empty=options.to_empty,
        timeout=connection.settings.timeout,
    )
    command = split_command(options.translate) if options.translate else []
    announces = not options.raw and not env.wants_json and options.message.copies <= _ANNOUNCED
    if isinstance(body, Stdin) and body.is_terminal and not options.raw:
        env.say("Reading payload from STDIN")
    async for [message] in messages:
        if announces:
            env.say(f'Sending request on "{message.subject}"')
        number = 0
        async with aclosing(requests.send_request(connection, message, limits)) as replies:
            async for reply, rtt in replies:
                number += 1
                data = await translate(command, reply.data, reply.subject) if command else reply.data
                yield [Reply(reply.with_data(data), number, rtt)]
        if not number and not options.to_empty:
            raise RequestTimeout(
                f"no answer on {message.subject} in {format_exact_duration(limits.timeout)}",
                "--timeout waits longer",
            )
        if number < options.replies and not options.to_empty:
            raise RequestTimeout(
                f"{number} of {pluralize(options.replies, 'reply')} on {message.subject} arrived",
                "--reply-timeout waits longer for the next",
            )
