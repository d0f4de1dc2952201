"""Publishing: plain messages in bursts, and messages that a stream acknowledges."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import NamedTuple

from jsctl.errors import NoResponders, RequestTimeout
from jsctl.jetstream.api import Api, Json
from jsctl.nats.connection import Connection, Message, Subscription
from jsctl.nats.subjects import is_subject
from jsctl.units import SECOND

WINDOW = 256
"""Messages that may wait for their acknowledgement at once."""


class Outgoing(NamedTuple):
    """A message to publish."""

    subject: str
    data: bytes
    reply: str = ""
    headers: Mapping[str, str] | None = None


async def send(
    connection: Connection, messages: Iterable[Outgoing], *, pause: int = 0
) -> AsyncIterator[Outgoing]:
    """Publish and give each message back once it is handed over; the server has all of them at the end.

    pause: ns between two messages. Raises BadInput, Unreachable, Denied.
    """
    async for message in _paced(messages, pause):
        await connection.publish(message.subject, message.data, reply=message.reply, headers=message.headers)
        yield message
    await connection.flush()


async def store(
    connection: Connection, messages: Iterable[Outgoing], *, pause: int = 0, window: int = WINDOW
) -> AsyncIterator[tuple[Outgoing, Json]]:
    """Publish and give each message with the acknowledgement of its stream, as they come in.

    `window` messages wait at once; with a pause each is acknowledged before the next. Raises
    NoResponders where no stream listens, ApiError where one refuses, RequestTimeout.
    """
    inbox = connection.new_inbox()
    waiting: dict[str, Outgoing] = {}
    async with connection.subscribe(f"{inbox}.*") as acks:
        number = 0
        async for message in _paced(messages, pause):
            if len(waiting) >= (1 if pause else window):
                yield await _acknowledged(connection, acks, waiting)
            reply = f"{inbox}.{number}"
            number += 1
            waiting[reply] = message
            await connection.publish(message.subject, message.data, reply=reply, headers=message.headers)
        while waiting:
            yield await _acknowledged(connection, acks, waiting)


def check_subject(subject: str) -> str:
    """A subject to publish to, or ValueError."""
    if not is_subject(subject):
        raise ValueError(f"{subject!r} is no subject")
    if any(token in ("*", ">") for token in subject.split(".")):
        raise ValueError(f"cannot publish to {subject!r}: it has a wildcard")
    return subject


async def _paced(messages: Iterable[Outgoing], pause: int) -> AsyncIterator[Outgoing]:
    loop = asyncio.get_running_loop()
    due = loop.time()
    for at, message in enumerate(messages):
        if pause and at:
            due += pause / SECOND
            await asyncio.sleep(max(0.0, due - loop.time()))
        yield message


async def _acknowledged(
    connection: Connection, acks: Subscription, waiting: dict[str, Outgoing]
) -> tuple[Outgoing, Json]:
    ack: Message | None = await acks.next(connection.settings.timeout)
    if ack is None:
        raise RequestTimeout(
            f"{len(waiting)} messages were not acknowledged in time", "does a stream listen on the subject?"
        )
    message = waiting.pop(ack.subject)
    if ack.headers.get("Status") == "503":
        raise NoResponders(f"no stream listens on {message.subject}", "jsctl stream add makes one")
    return message, Api.parse(ack.data, message.subject)
