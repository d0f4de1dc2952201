"""Interest in a subject, with its messages one after the other."""

import asyncio
from collections.abc import AsyncIterator

from jsctl.base.units import SECOND
from jsctl.errors import JsctlError
from jsctl.nats.events import Closed, ConnectionEvent, PermissionDenied
from jsctl.nats.message import Message


class Subscription:
    """Interest in a subject: `async with connection.subscribe(s) as sub: async for message in sub`.

    add: the handler of its messages. request: the subject of the request that they answer; the login may not
    publish to it if the server says so.
    """

    def __init__(self) -> None:
        self._messages: asyncio.Queue[Message | JsctlError] = asyncio.Queue()
        self.add = self._messages.put_nowait
        self.request = ""

    async def next(self, timeout: int) -> Message | None:
        """Return the next message, or None after `timeout` ns without one. Raises JsctlError when the
        connection is closed for good, Denied when the request was refused."""
        if timeout <= 0:
            return None
        try:
            async with asyncio.timeout(timeout / SECOND):
                return await self._take()
        except TimeoutError:
            return None

    async def __aiter__(self) -> AsyncIterator[Message]:
        while True:
            yield await self._take()

    async def _take(self) -> Message:
        item = await self._messages.get()
        if isinstance(item, JsctlError):
            self._messages.put_nowait(item)  # for whoever asks next
            raise item
        return item

    def watch(self, event: ConnectionEvent) -> bool:
        """Handle an event of the connection."""
        if isinstance(event, Closed):
            self._messages.put_nowait(event.error)
        elif isinstance(event, PermissionDenied) and event.subject == self.request:
            self._messages.put_nowait(event.to_error())
            return True
        return False
