"""Interest in a subject, with its messages one after the other."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager

from jsctl.base.units import SECOND
from jsctl.errors import JsctlError
from jsctl.nats.events import Closed, ConnectionEvent, EventHandler
from jsctl.nats.message import Message, MessageHandler
from jsctl.nats.receiver import Receiver


class Subscription:
    """Interest in a subject: `async with connection.subscribe(s) as sub: async for message in sub`.

    receive, watching: as of a connection, for that subject.
    """

    def __init__(
        self,
        receive: Callable[[MessageHandler], Receiver],
        watching: Callable[[EventHandler], AbstractContextManager[None]],
    ) -> None:
        self._messages: asyncio.Queue[Message | JsctlError] = asyncio.Queue()
        self._watched = watching(self._watch)
        self._receiver = receive(self._messages.put_nowait)

    async def __aenter__(self) -> "Subscription":
        await self._receiver.__aenter__()
        self._watched.__enter__()
        return self

    async def __aexit__(self, *details: object) -> None:
        self._watched.__exit__(None, None, None)
        await self._receiver.__aexit__(*details)

    async def next(self, timeout: int) -> Message | None:
        """Return the next message, or None after `timeout` ns without one. Raises JsctlError when the
        connection is closed for good."""
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

    def _watch(self, event: ConnectionEvent) -> bool:
        if isinstance(event, Closed):
            self._messages.put_nowait(event.error)
        return False
