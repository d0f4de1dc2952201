"""The replies to a request that many may answer."""

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from jsctl.errors import JsctlError, NoResponders
from jsctl.later import asyncio
from jsctl.nats.message import REPLIES_SIZE, Message, is_no_responders
from jsctl.units import SECOND

if TYPE_CHECKING:
    from jsctl.nats.connection import Connection


async def iterate_replies(
    connection: "Connection",
    subject: str,
    data: bytes = b"",
    *,
    expect: int = 0,
    timeout: int | None = None,
    stall: int = SECOND // 4,
    max_bytes: int = REPLIES_SIZE,
) -> AsyncGenerator[Message, None]:
    """Yield all replies: until `expect` of them, `stall` ns of silence after one, or `timeout` ns.

    Raises NoResponders when nobody listens, JsctlError when the replies have more than `max_bytes` bytes.
    """
    loop = asyncio.get_running_loop()
    count, bytes_left = 0, max_bytes
    inbox = connection.new_inbox()
    async with connection.subscribe(inbox) as subscription:
        await connection.publish(subject, data, reply=inbox)
        deadline = loop.time() + (timeout or connection.settings.timeout) / SECOND
        while not expect or count < expect:
            seconds_left = deadline - loop.time()
            limit = min(seconds_left, stall / SECOND) if count else seconds_left
            message = await subscription.next(int(limit * SECOND))
            if message is None:
                break
            if is_no_responders(message):
                raise NoResponders(f"nobody answers on {subject}")
            count += 1
            if (bytes_left := bytes_left - message.size - 1024) < 0:  # 1 KiB: what a Message object takes
                raise JsctlError(f"the replies on {subject} have more than {max_bytes:,} bytes")
            yielded_at = loop.time()
            yield message
            deadline += loop.time() - yielded_at  # what the caller took is not the servers' silence
