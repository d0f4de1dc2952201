"""`jsctl pub`."""

import itertools
import time
from collections.abc import AsyncIterator

import click

from jsctl.commands.cli import DURATION, argument, command, option
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream import messages
from jsctl.jetstream.api import Json
from jsctl.jetstream.client import Connection
from jsctl.jetstream.messages import Outgoing
from jsctl.units import format_bytes, format_count
from jsctl.views.result import Result

TOLD = 20
"""Up to this many messages are told one by one, as the `nats` tool does."""


@command(
    "publish",
    examples=[
        'jsctl pub test "hello world"',
        "jsctl pub ORDERS.new order --count 1000 --jetstream",
        "jsctl pub ORDERS.new order -H Nats-Msg-Id:1 -J",
    ],
)
@argument("subject")
@argument("body", required=False)
@option("--reply", metavar="SUBJECT", default="", help="Reply subject of the message")
@option("--header", "-H", "headers", metavar="K:V", multiple=True, help="A header; may be repeated")
@option("--count", type=click.IntRange(min=1), default=1, metavar="NUMBER", help="Publish that many")
@option("--sleep", type=DURATION, default=0, metavar="DURATION", help="Wait between two messages")
@option("--force-stdin", is_flag=True, help="Read the body from stdin")
@option("--jetstream", "-J", is_flag=True, help="Wait until a stream has stored it")
@option("--quiet", "-q", is_flag=True, help="Say nothing when all went well")
async def publish(
    env: Env,
    subject: str,
    body: str | None,
    reply: str,
    headers: tuple[str, ...],
    count: int,
    sleep: int,
    force_stdin: bool,
    jetstream: bool,
    quiet: bool,
) -> Result:
    """Publish messages; the body comes from stdin when it is left out"""
    try:
        messages.check_subject(subject)
    except ValueError as error:
        raise BadInput(str(error)) from None
    if jetstream and reply:
        raise BadInput("--jetstream and --reply exclude each other", "the acknowledgement needs the reply")
    data = _stdin(env) if force_stdin or body is None else body.encode("utf-8", "surrogateescape")
    message = Outgoing(subject, data, reply, messages.parse_headers(headers) or None)
    connection = await env.connection()
    tell = not quiet and count <= TOLD
    started = time.monotonic()
    acks: list[Json] = []
    async for ack in _published(connection, message, count, sleep, jetstream):
        if tell:
            _say(env, f'Published {len(data)} bytes to "{subject}"')
        if ack is not None:
            acks.append(ack)
            if tell:
                _say(env, _stored(ack))
    if not quiet and not tell:
        took = time.monotonic() - started
        _say(
            env,
            f'Published {format_count(count)} messages, {format_bytes(count * len(data))}, to "{subject}"'
            f" in {took:.2f}s, {count / took:,.0f} a second",
        )
    return Result(
        data=acks if jetstream else {"subject": subject, "messages": count, "bytes": count * len(data)}
    )


async def _published(
    connection: Connection, message: Outgoing, count: int, sleep: int, jetstream: bool
) -> AsyncIterator[Json | None]:
    """Each message's acknowledgement, None where none was asked for."""
    batch = itertools.repeat(message, count)
    if jetstream:
        async for _, ack in messages.store(connection, batch, pause=sleep):
            yield ack
    else:
        async for _ in messages.send(connection, batch, pause=sleep):
            yield None


def _stdin(env: Env) -> bytes:
    stdin = env.streams.stdin
    if stdin.isatty():
        env.say("Reading the body from stdin, ctrl-D ends it")
    raw = getattr(stdin, "buffer", None)
    data = raw.read() if raw is not None else stdin.read().encode()
    return bytes(data)


def _stored(ack: Json) -> str:
    text = f"Stored in Stream: {ack.get('stream', '')} Sequence: {format_count(int(ack.get('seq', 0)))}"
    if ack.get("domain"):
        text += f' Domain: "{ack["domain"]}"'
    if ack.get("duplicate"):
        text += " Duplicate: true"
    if ack.get("val"):
        text += f" Counter Value: {ack['val']}"
    return text


def _say(env: Env, text: str) -> None:
    env.say(f"{time.strftime('%H:%M:%S', time.localtime(env.clock()))} {text}")
