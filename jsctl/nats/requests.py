"""Requests of people: replies as they come, whatever their subject.

A reply to `$JS.API.CONSUMER.MSG.NEXT` carries the subject of the stored message, so the inbox is
subscribed to by itself; nats-py's own requests would wait for a subject that never comes.
"""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from jsctl.errors import Denied, NoResponders
from jsctl.nats.connection import Connection, is_no_responders
from jsctl.nats.events import ConnectionEvent, PermissionDenied
from jsctl.nats.message import Message, OutgoingMessage
from jsctl.units import SECOND


@dataclass(frozen=True, slots=True)
class Wanted:
    """replies: how many end it, 0 waits for the time-out. gap: ns between two of several. to_empty: an
    empty one ends it, and is not shown. timeout: ns for the first, and in all when replies is 0."""

    replies: int = 1
    gap: int = 300_000_000
    to_empty: bool = False
    timeout: int = 5 * SECOND


async def ask(
    connection: Connection, message: OutgoingMessage, wanted: Wanted
) -> AsyncGenerator[tuple[Message, int], None]:
    """Publish a request; gives each reply and the ns since it was sent. None in time: ends without one.

    Raises NoResponders, Denied, BadInput.
    """
    inbox = connection.new_inbox()
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[tuple[Message, float] | Denied] = asyncio.Queue()

    def watch(event: ConnectionEvent) -> bool:
        if isinstance(event, PermissionDenied):
            queue.put_nowait(event.error())
            return True
        return False

    connection.check_size(message)
    with connection.watching(watch):
        async with connection.receive(inbox, lambda reply: queue.put_nowait((reply, loop.time()))):
            sent = loop.time()
            await connection.send(message.encode(inbox))
            count, spent = 0, 0.0
            while not wanted.replies or count < wanted.replies:
                limit = sent + wanted.timeout / SECOND - loop.time()
                if count and wanted.replies:
                    limit = spent / count + wanted.gap / SECOND
                try:
                    async with asyncio.timeout(max(limit, 0)):
                        received = await queue.get()
                except TimeoutError:
                    return
                if isinstance(received, Denied):
                    raise received
                reply, moment = received
                if is_no_responders(reply):
                    raise NoResponders(f"no responders are available on {message.subject}")
                if wanted.to_empty and not reply.data:
                    return
                count += 1
                spent += moment - sent
                yield reply, round((moment - sent) * SECOND)
