"""Requests of people: replies as they come, whatever their subject.

A reply to `$JS.API.CONSUMER.MSG.NEXT` carries the subject of the stored message, so the inbox is
subscribed to by itself; nats-py's own requests would wait for a subject that never comes.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

from jsctl.errors import Denied, NoResponders
from jsctl.jetstream.message.publish import Outgoing, check_size
from jsctl.nats import codec as frames
from jsctl.nats.codec import Item
from jsctl.nats.connection import Connection
from jsctl.units import SECOND


@dataclass(frozen=True, slots=True)
class Wanted:
    """replies: how many end it, 0 waits for the time-out. gap: ns between two of several. to_empty: an
    empty one ends it, and is not shown. timeout: ns for the first, and in all when replies is 0."""

    replies: int = 1
    gap: int = 300_000_000
    to_empty: bool = False
    timeout: int = 5 * SECOND


async def ask(connection: Connection, message: Outgoing, wanted: Wanted) -> AsyncIterator[tuple[Item, int]]:
    """Publish a request; gives each reply and the ns since it was sent. None in time: ends without one.

    Raises NoResponders, Denied, BadInput.
    """
    inbox = connection.new_inbox()
    loop = asyncio.get_running_loop()
    came: asyncio.Queue[tuple[Item, float] | Denied] = asyncio.Queue()

    def take(subject: bytes, reply: bytes, header: bytes, data: bytes) -> None:
        item = Item(subject.decode(errors="replace"), data, reply.decode(errors="replace"), header)
        came.put_nowait((item, loop.time()))

    def watch(event: str, sentence: str) -> bool:
        refused = "permissions violation" in sentence.lower()
        if refused:
            came.put_nowait(Denied(f"the server refuses: {sentence}", "ask for that permission"))
        return refused

    check_size(connection, message)
    connection.watchers.append(watch)
    try:
        async with connection.receive(inbox, take):
            sent = loop.time()
            await connection.send(frames.frame(message.subject, message.data, inbox, message.header))
            got, gaps = 0, 0.0
            while not wanted.replies or got < wanted.replies:
                limit = sent + wanted.timeout / SECOND - loop.time()
                if got and wanted.replies:
                    limit = gaps / got + wanted.gap / SECOND
                try:
                    async with asyncio.timeout(max(limit, 0)):
                        answer = await came.get()
                except TimeoutError:
                    return
                if isinstance(answer, Denied):
                    raise answer
                item, moment = answer
                if not item.data and frames.status(item.header)[0] == 503:
                    raise NoResponders(f"no responders are available on {message.subject}")
                if wanted.to_empty and not item.data:
                    return
                got += 1
                gaps += moment - sent
                yield item, round((moment - sent) * SECOND)
    finally:
        connection.watchers.remove(watch)
