"""Requests that users type: every reply as it is received, whatever its subject.

A reply to `$JS.API.CONSUMER.MSG.NEXT` carries the subject of the stored message, so the inbox is
subscribed to by itself; `Connection.request` waits for replies on its own subject.
"""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from jsctl.base.units import SECOND
from jsctl.errors import Denied, NoResponders
from jsctl.nats.connection import Connection
from jsctl.nats.events import ConnectionEvent, PermissionDenied
from jsctl.nats.message import Message, OutgoingMessage, is_no_responders


@dataclass(frozen=True, slots=True)
class ReplyLimits:
    """The limits at which a request ends.

    replies: number of replies; 0 waits for the timeout. gap: ns between two replies, added to their mean
    time. to_empty: an empty reply ends the request and is not yielded. timeout: ns for the first reply, or
    for all when `replies` is 0.
    """

    replies: int = 1
    gap: int = 300_000_000
    to_empty: bool = False
    timeout: int = 5 * SECOND


async def send_request(
    connection: Connection, message: OutgoingMessage, limits: ReplyLimits
) -> AsyncGenerator[tuple[Message, int], None]:
    """Publish a request; yield each reply and the ns since it was sent. Ends without one after the timeout.

    Raises NoResponders, Denied, BadInput.
    """
    inbox = connection.new_inbox()
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[tuple[Message, float] | Denied] = asyncio.Queue()

    def watch(event: ConnectionEvent) -> bool:
        if isinstance(event, PermissionDenied):
            queue.put_nowait(event.to_error())
            return True
        return False

    connection.check_size(message)
    with connection.watching(watch):
        async with connection.receive(inbox, lambda reply: queue.put_nowait((reply, loop.time()))):
            sent_at = loop.time()
            await connection.send(message.encode(inbox))
            count, total_wait = 0, 0.0
            while not limits.replies or count < limits.replies:
                limit = sent_at + limits.timeout / SECOND - loop.time()
                if count and limits.replies:
                    limit = total_wait / count + limits.gap / SECOND
                try:
                    async with asyncio.timeout(max(limit, 0)):
                        received = await queue.get()
                except TimeoutError:
                    return
                if isinstance(received, Denied):
                    raise received
                reply, received_at = received
                if is_no_responders(reply):
                    raise NoResponders(f"no responders are available on {message.subject}")
                if limits.to_empty and not reply.data:
                    return
                count += 1
                total_wait += received_at - sent_at
                yield reply, round((received_at - sent_at) * SECOND)
