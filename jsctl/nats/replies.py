"""The replies to a request that many may answer, and to many requests at once."""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable, Sequence

from jsctl.base.units import SECOND
from jsctl.errors import JsctlError, NoResponders, RequestTimeout
from jsctl.nats.codec import encode_publish
from jsctl.nats.connection import Connection
from jsctl.nats.message import REPLIES_SIZE, Message, is_no_responders


async def iterate_replies(
    connection: Connection,
    subject: str,
    data: bytes = b"",
    *,
    expect: int = 0,
    timeout: int | None = None,
    stall: int | Callable[[], int] = SECOND // 4,
    max_bytes: int = REPLIES_SIZE,
) -> AsyncGenerator[Message, None]:
    """Yield all replies: until `expect` of them, `stall` ns of silence after one, which may depend on
    those before, or `timeout` ns.

    Raises NoResponders when nobody listens, Denied when the login may not send the request, JsctlError when
    the replies have more than `max_bytes` bytes.
    """
    count, bytes_left = 0, max_bytes
    inbox = connection.new_inbox()
    async with connection.subscribe(inbox) as subscription:
        subscription.request = subject
        await connection.publish(subject, data, reply=inbox)
        deadline = time.monotonic() + (timeout or connection.settings.timeout) / SECOND
        while not expect or count < expect:
            seconds_left = deadline - time.monotonic()
            silence = stall() if callable(stall) else stall
            limit = min(seconds_left, silence / SECOND) if count else seconds_left
            message = await subscription.next(int(limit * SECOND))
            if message is None:
                break
            if is_no_responders(message):
                raise NoResponders(f"nobody answers on {subject}")
            count += 1
            if (bytes_left := bytes_left - message.size - 1024) < 0:  # 1 KiB: what a Message object takes
                raise JsctlError(f"the replies on {subject} have more than {max_bytes:,} bytes")
            yielded_at = time.monotonic()
            yield message
            deadline += time.monotonic() - yielded_at  # what the caller took is not the servers' silence


async def request_many(
    connection: Connection,
    subject: str,
    data: bytes = b"",
    *,
    expect: int = 0,
    timeout: int | None = None,
    stall: int = SECOND // 4,
    max_bytes: int = REPLIES_SIZE,
) -> list[Message]:
    """Return all replies (see `iterate_replies`). timeout, stall: ns."""
    work = iterate_replies(
        connection, subject, data, expect=expect, timeout=timeout, stall=stall, max_bytes=max_bytes
    )
    async with contextlib.aclosing(work) as replies:
        return [reply async for reply in replies]


async def request_each(
    connection: Connection, subject: str, bodies: Sequence[bytes], *, timeout: int
) -> list[Message]:
    """Send requests together, over one inbox; return a reply to each, in any order.

    100,000 requests cost 0.5 s of processor time, one after the other 7 s. timeout: ns without a reply.
    Raises NoResponders, RequestTimeout.
    """
    replies: list[Message] = []
    done = asyncio.Event()

    def handle(message: Message) -> None:
        replies.append(message)
        if len(replies) == len(bodies) or is_no_responders(message):
            done.set()

    inbox = connection.new_inbox()
    async with connection.receive(inbox, handle):
        await connection.send(b"".join(encode_publish(subject, body, inbox) for body in bodies))
        before = -1
        while not done.is_set():
            if len(replies) == before:
                raise RequestTimeout(f"no answer on {subject} in {timeout / SECOND:g}s")
            before = len(replies)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(timeout / SECOND):
                    await done.wait()
    if is_no_responders(replies[-1]):
        raise NoResponders(f"nobody answers on {subject}")
    return replies
