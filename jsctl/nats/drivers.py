"""The two drivers of a verb's connection, and the one place that chooses between them.

The blocking driver (`blocking`) needs no asyncio, whose import takes as long as all the rest of a short verb.
It makes one request after the other. Whatever else a verb asks for (subscriptions, work at the same time,
questions to a user meanwhile, a proxy, websockets) needs an event loop, and with it the asyncio driver
(`asyncio_driver`). A verb declares nothing: it starts in an event loop if what it imports has imported
asyncio; otherwise `jsctl.base.loops` steps it until it waits for a loop. Its connection then moves to the
asyncio driver, most often before it has sent anything.
"""

import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from jsctl.base.loops import await_event_loop, is_asyncio_imported, is_stepped, mark_request_sent
from jsctl.base.units import SECOND
from jsctl.contexts.settings import Settings
from jsctl.errors import NoResponders, Unreachable
from jsctl.nats import login
from jsctl.nats.blocking import BlockingConnection
from jsctl.nats.connection import Connection
from jsctl.nats.events import EventHandler
from jsctl.nats.message import Message, OutgoingMessage
from jsctl.nats.outcomes import ConnectionLost, EndedByServer

if TYPE_CHECKING:
    from jsctl.nats.asyncio_driver import AsyncioDriver

_PAUSE = 0.1  #: seconds between two attempts to connect again

_OPERATION = re.compile(r"\$JS\.(?:.+?\.)?API\.(?:(STREAM|CONSUMER|DIRECT)\.(MSG\.)?(\w+)|INFO$)")
"""What a request of JetStream does; names of streams and consumers follow it."""


def only_reads(subject: str) -> bool:
    """Return whether a request of JetStream changes nothing, so that it may be repeated."""
    found = _OPERATION.match(subject)
    return found is not None and found[3] in (None, "INFO", "LIST", "NAMES", "GET")


async def connect(settings: Settings, on_event: EventHandler) -> Connection:
    """Connect with the driver for what runs. Raises Unreachable, Denied or BadInput within the settings'
    timeout. on_event: see Connection.open."""
    # Without an event loop there are no proxies and no websockets.
    if settings.socks_proxy or "ws://" in settings.url or "wss://" in settings.url or is_asyncio_imported():
        await await_event_loop()
    if not is_stepped():
        return await Connection.open(settings, on_event=on_event)
    settings = await login.prepare(settings)
    if not is_stepped():  # the login took another program
        return await Connection.open(settings, on_event=on_event)
    return SteppedConnection(settings, on_event, _open(settings))


def _open(settings: Settings) -> BlockingConnection:
    return BlockingConnection.open(settings, settings.connection_name or "jsctl", in_order=True)


class _LostWhileWaiting(Unreachable):
    """The loss of a connection before the answer to a request, which another connection may bring."""


class SteppedConnection(Connection):
    """The connection of a verb that began without an event loop. See `connect`.

    Its methods block until they have their answer, and never suspend, until an event loop runs; it connects
    anew then, with asyncio. When it is lost before, a `request` that only reads is repeated over a new one
    until its timeout. Other messages may have arrived already; the methods that send them raise Unreachable.
    """

    def __init__(self, settings: Settings, on_event: EventHandler | None, link: BlockingConnection) -> None:
        super().__init__(settings, on_event)
        self._link: BlockingConnection | None = link
        self._moving: Awaitable[None] | None = None

    async def _get_blocking(self) -> BlockingConnection | None:
        """Return the blocking driver; None where an event loop runs, once the asyncio driver is connected."""
        if is_asyncio_imported():
            await await_event_loop()
        if not is_stepped():
            if self._moving is None:
                from asyncio import ensure_future

                self._moving = ensure_future(self._move())
            await self._moving
        return self._link

    async def _move(self) -> None:
        if self._link:
            link, self._link = self._link, None
            link.close()
            await self._connect()

    async def _get_driver(self) -> Any:
        await await_event_loop()
        await self._get_blocking()
        return await super()._get_driver()

    @property
    def _current(self) -> "AsyncioDriver | BlockingConnection":
        return self._link or self._driver

    async def request(self, subject: str, data: bytes = b"", *, timeout: int | None = None) -> Message:
        timeout = timeout or self.settings.timeout
        link, deadline = await self._get_blocking(), time.monotonic() + timeout / SECOND
        try:
            return await super().request(subject, data, timeout=timeout)
        except _LostWhileWaiting:
            if link is None or not only_reads(subject):
                raise
            return self._request_again(link, OutgoingMessage(subject, data), deadline)

    async def request_message(self, message: OutgoingMessage, *, timeout: int | None = None) -> Message:
        if not (link := await self._get_blocking()):
            return await super().request_message(message, timeout=timeout)
        self.check_size(message)
        timeout = timeout or self.settings.timeout
        try:
            deadline = time.monotonic() + timeout / SECOND
            request = link.begin_request(message)
            await mark_request_sent()
            return link.wait_for_reply(request, deadline, timeout)
        except EndedByServer:
            raise self._lost_error() from None
        except ConnectionLost:
            raise _LostWhileWaiting(self._lost_error().message) from None

    def _request_again(self, lost: BlockingConnection, message: OutgoingMessage, deadline: float) -> Message:
        """Connect again, unless another request has, and repeat a request until `deadline` (monotonic).

        Raises Unreachable at the deadline, Denied when the login is refused.
        """
        link = self._link or lost
        while (ns_left := int((deadline - time.monotonic()) * SECOND)) > 0:
            try:
                if link is lost:
                    link = _open(replace(self.settings, timeout=ns_left))
                    self._link = self._link and link
                return link.request_message(message, timeout=ns_left)
            except EndedByServer:
                break
            except ConnectionLost:
                lost = link
            except (Unreachable, NoResponders):  # the server, or its JetStream, is not ready yet
                pass
            time.sleep(_PAUSE)
        raise self._lost_error()

    async def send(self, *frames: bytes) -> None:
        if link := await self._get_blocking():
            self._do(lambda: link.send(b"".join(frames)))
        else:
            await super().send(*frames)

    async def send_now(self, *frames: bytes) -> None:
        await (super().send_now if not await self._get_blocking() else self.send)(*frames)

    def post(self, frames: bytes, *, now: bool = False) -> None:
        if link := self._link:
            self._do(lambda: link.send(frames))
        else:
            super().post(frames, now=now)

    def read_now(self, seconds: float) -> bool:
        return not self._link and super().read_now(seconds)

    async def _flush(self, timeout: int) -> bool:
        if not (link := await self._get_blocking()):
            return await super()._flush(timeout)
        self._do(lambda: link.flush(timeout))
        return True

    async def measure_rtt(self) -> int:
        if not (link := await self._get_blocking()):
            return await super().measure_rtt()
        started_at = time.perf_counter_ns()
        self._do(link.flush)
        return time.perf_counter_ns() - started_at

    async def wait_until_connected(self, timeout: int | None = None) -> None:
        await self._get_driver()
        await super().wait_until_connected(timeout)

    async def close(self) -> None:
        if self._link:
            self._link.close()
        elif hasattr(self, "_driver"):
            await super().close()

    def _do(self, work: Callable[[], None]) -> None:
        try:
            work()
        except ConnectionLost:
            raise self._lost_error() from None
        except TimeoutError:
            raise Unreachable("the server did not take everything: flush timeout") from None

    def _lost_error(self) -> Unreachable:
        return Unreachable(f"lost the connection to {self.url}")
