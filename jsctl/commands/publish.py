"""`jsctl publish`."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from jsctl.commands.cli import DURATION, argument, command, option
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.api import Json
from jsctl.jetstream.message import dump
from jsctl.jetstream.message import publish as sending
from jsctl.jetstream.message.publish import Count, Draft
from jsctl.jetstream.message.stdin import read_all, read_lines
from jsctl.nats.connection import Connection
from jsctl.nats.headers import encode_headers, parse_headers
from jsctl.nats.message import OutgoingMessage
from jsctl.nats.templates import Moment, Template, compile_template
from jsctl.units import SECOND
from jsctl.views.message import publish as view
from jsctl.views.result import Result, Text

_BURST = 256  #: messages that are made before they are sent
_SPOKEN = 20  #: up to so many messages each gets its line


@dataclass(frozen=True, slots=True)
class Options:
    """body: None takes stdin. count: messages, or of each line. sleep: ns. dumped: where a dump is."""

    subject: str
    body: str | None
    headers: Sequence[str]
    extra: Sequence[tuple[str, str]]
    reply: str
    count: int
    sleep: int
    by_line: bool
    templates: bool
    jetstream: bool
    atomic: bool
    dumped: str
    paced: bool


HELP = """Subject, body and header values may hold templates that make each message different:

\b
  {{Count}}            the message's number
  {{TimeStamp}}        the time in RFC 3339
  {{Unix}} {{UnixNano}}  seconds, nanoseconds since 1970
  {{Time}}             the time of day
  {{ID}}               a unique text
  {{Random 10 100}}    letters, at least 10 and at most 100

Without a body, stdin is the body: all of it, or with --send-on newline each line a message.
"""


@command(
    "publish",
    help=HELP,
    examples=[
        "jsctl pub orders.new 'order 1'",
        "jsctl pub orders.new 'order {{Count}}' --count 1000 -J",
        "jsctl pub orders.new -H 'Nats-Msg-Id: 7' --jetstream hello",
        "jsctl pub --from-dump orders.jsonl --original-pace",
    ],
)
@argument("subject", required=False, default="")
@argument("body", required=False)
@option("--reply", metavar="SUBJECT", default="", help="Reply subject of the messages")
@option("--header", "-H", "headers", metavar="K:V", multiple=True, help="Add a header; several times")
@option("--count", type=int, default=1, metavar="N", help="Publish so many messages")
@option("--sleep", type=DURATION, default=0, metavar="DURATION", help="Wait between messages")
@option("--templates/--no-templates", default=True, help="Fill templates in subject and body (yes)")
@option("--send-on", type=str, default="eof", metavar="eof|newline", help="When stdin is sent (eof)")
@option("--force-stdin", is_flag=True, help="Take the body from stdin")
@option("--jetstream", "-J", is_flag=True, help="Publish to a stream and show its ack")
@option("--wait", "-w", "jetstream_old", is_flag=True, hidden=True, help="Old name of --jetstream")
@option("--atomic", is_flag=True, help="Store all messages or none of them; implies --jetstream")
@option("--quiet", "-q", is_flag=True, help="Say nothing but what went wrong")
@option("--ttl", type=DURATION, metavar="DURATION", help="The stream forgets the message after this")
@option("--schedule-after", type=DURATION, metavar="DURATION", help="The stream publishes it after this")
@option("--schedule-at", metavar="TIME", help="The stream publishes it at an RFC 3339 time")
@option("--schedule-every", type=DURATION, metavar="DURATION", help="The stream publishes it every so often")
@option("--schedule-cron", metavar="CRON", help="The stream publishes it by a cron expression")
@option("--schedule-dest", metavar="SUBJECT", help="Where a scheduled message is published")
@option("--schedule-source", metavar="SUBJECT", help="Publish the last message of this subject instead")
@option("--schedule-ttl", type=DURATION, metavar="DURATION", help="TTL of what a schedule publishes")
@option("--from-dump", "dumped", metavar="PATH", default="", help="Publish what sub --dump wrote; - is stdin")
@option("--original-pace", "paced", is_flag=True, help="With --from-dump: as far apart as they were")
async def publish(env: Env, quiet: bool, **given: Any) -> Result | None:
    options, connection = _options(env, given), await env.connection()
    count, started = Count(), time.perf_counter()
    if options.body is None and not options.dumped and env.streams.stdin.isatty() and not quiet:
        env.say("Reading payload from STDIN")
    total = options.count if options.body is not None else 0
    spoken = not quiet and total <= _SPOKEN and not options.dumped

    with env.progress("Publishing", total if total > _SPOKEN and not quiet else 0) as advance:

        def done(message: OutgoingMessage, ack: Json | None) -> None:
            advance(1)
            if spoken:
                env.say(view.published(message))
                if ack and not env.wants_json:
                    env.emit(Result([Text(view.stored(ack))]))

        try:
            if options.atomic:
                ack = await _atomic(env, options, connection, count)
                return None if quiet else view.batch(ack)
            bursts = _bursts(env, options)
            if options.jetstream:
                await sending.acked(connection, bursts, count, done)
            else:
                await sending.core(connection, bursts, count, done, confirm=spoken)
        except (asyncio.CancelledError, Exception):
            if count.messages and not spoken:
                env.say(f"Stopped after {count.messages:,} messages")
            raise
    return view.result(count, time.perf_counter() - started, quiet=quiet, spoken=spoken)


def _options(env: Env, given: dict[str, Any]) -> Options:
    schedule = {
        name.removeprefix("schedule_"): value
        for name, value in given.items()
        if name.startswith("schedule_") and value is not None
    }
    extra = sending.schedule_headers(schedule, env.clock())
    if given["ttl"] is not None:
        extra.append(("Nats-TTL", sending.ttl(given["ttl"])))
    body: str | None = given["body"]
    dumped: str = given["dumped"]
    if given["send_on"] not in ("eof", "newline"):
        raise BadInput("--send-on takes eof or newline")
    if not given["subject"] and not dumped:
        raise BadInput("the subject is missing", "give SUBJECT, or --from-dump PATH")
    if dumped and body is not None:
        raise BadInput("a dump has its own payloads", "leave the body out")
    if given["paced"] and not dumped:
        raise BadInput("--original-pace is for --from-dump")
    jetstream = given["jetstream"] or given["jetstream_old"] or given["atomic"] or bool(extra)
    if jetstream and given["reply"]:
        raise BadInput("a stream's ack takes the reply subject", "leave out --reply or --jetstream")
    if given["atomic"] and schedule:
        raise BadInput("an atomic batch takes no schedules")
    return Options(
        given["subject"], body, given["headers"], extra, given["reply"], max(given["count"], 1),
        given["sleep"], given["send_on"] == "newline", given["templates"], jetstream, given["atomic"],
        dumped, given["paced"],
    )  # fmt: skip


def _draft(options: Options) -> Draft:
    """The draft of every message; its body comes later."""
    made = sending.draft(
        options.subject, b"", options.headers, reply=options.reply, templates=options.templates
    )
    fixed = [(key, Template([value.encode()])) for key, value in options.extra]
    return replace(made, headers=[*made.headers, *fixed])


async def _bursts(env: Env, options: Options) -> AsyncIterator[Sequence[OutgoingMessage]]:
    """The messages, in groups that are sent at once."""
    if options.dumped:
        async for group in _dumped(env, options):
            yield group
    elif options.body is not None or not options.by_line:
        body = await read_all(env.streams.stdin) if options.body is None else _bytes(options.body)
        draft = replace(_draft(options), body=compile_template(body, enabled=options.templates))
        async for group in _paced(draft.many(1, options.count), options.sleep):
            yield group
    else:
        number, base = 0, _draft(options)
        async for lines in read_lines(env.streams.stdin):
            made: list[OutgoingMessage] = []
            for line in lines:
                number += 1
                draft = replace(base, body=compile_template(line, enabled=options.templates))
                made += (draft.make(Moment(number)) for _ in range(options.count))
            async for group in _paced(iter(made), options.sleep):
                yield group


async def _paced(messages: Iterator[OutgoingMessage], sleep: int) -> AsyncIterator[Sequence[OutgoingMessage]]:
    if not sleep:
        while group := list(islice(messages, _BURST)):
            yield group
        return
    first = True
    for message in messages:
        if not first:
            await asyncio.sleep(sleep / SECOND)
        first = False
        yield [message]


async def _dumped(env: Env, options: Options) -> AsyncIterator[Sequence[OutgoingMessage]]:
    messages = dump.read(options.dumped, env.streams.stdin)
    extra = _draft(replace(options, subject=options.subject or "unused")).headers

    def made() -> Iterator[OutgoingMessage]:
        for number, message in enumerate(messages, 1):
            changed = message
            if extra:
                pairs = [(key, value.render(Moment(number)).decode()) for key, value in extra]
                header = encode_headers([*parse_headers(message.header_block), *pairs])
                changed = changed._replace(header_block=header)
            if options.subject:
                changed = changed._replace(subject=options.subject)
            yield changed

    if not options.paced:
        async for group in _paced(made(), options.sleep):
            yield group
        return
    began, first = time.monotonic_ns(), 0
    for message in made():
        first = first or message.time
        left = message.time - first - (time.monotonic_ns() - began)
        if message.time and left > 0:
            await asyncio.sleep(left / SECOND)
        yield [message]


async def _atomic(env: Env, options: Options, connection: Connection, count: Count) -> Json:
    messages = [message async for group in _bursts(env, options) for message in group]
    ack = await sending.atomic(connection, messages)
    count.messages = len(messages)
    return ack


def _bytes(argument: str) -> bytes:
    """An argument of the command line as the shell gave it."""
    return argument.encode(errors="surrogateescape")
