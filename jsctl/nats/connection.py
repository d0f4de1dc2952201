"""The connection of commands.

Its driver is `asyncio_driver` in an event loop, and `blocking_driver` without one (see `jsctl.base.loops`).
When a loop begins, an open connection moves into it: it connects anew, with the other driver.
"""

import contextlib
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from jsctl.base.loops import enter_event_loop, follow_into_loop, is_stepped, sleep
from jsctl.base.units import SECOND
from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput, Unreachable
from jsctl.nats import login
from jsctl.nats.codec import BulkReader, encode_publish
from jsctl.nats.events import ConnectionEvent, ErrorReported, EventHandler
from jsctl.nats.failures import describe_error
from jsctl.nats.message import Message, MessageHandler, OutgoingMessage
from jsctl.nats.protocol import Interest

if TYPE_CHECKING:
    from jsctl.nats.asyncio_driver import AsyncioDriver
    from jsctl.nats.blocking_driver import BlockingDriver
    from jsctl.nats.subscription import Subscription


class Connection:
    """One connection to a NATS network. Use `Connection.open`."""

    def __init__(self, settings: Settings, on_event: EventHandler | None) -> None:
        self._driver: AsyncioDriver | BlockingDriver  #: set by `open`
        self._on_event = on_event
        self._handlers: list[EventHandler] = []
        self._is_closing = False
        self._last_error = ""  #: text of the last one reported
        self.settings = settings

    @classmethod
    async def open(
        cls,
        settings: Settings,
        *,
        on_event: EventHandler | None = None,
        reconnect: bool = True,
        tls_hostname: str = "",
    ) -> "Connection":
        """Connect, or raise Unreachable, Denied or BadInput within the settings' timeout.

        on_event: called with all events that no other handler deals with. reconnect: whether to connect again
        when the connection is lost. tls_hostname: the name in the server's certificate, when the URL has an
        address instead.
        """
        # Without an event loop there are no proxies and no websockets.
        if settings.socks_proxy or tls_hostname or "ws://" in settings.url or "wss://" in settings.url:
            await enter_event_loop()
        self = cls(await login.prepare(settings), on_event)
        await self._connect(reconnect, tls_hostname)
        return self

    async def _connect(self, reconnect: bool = True, tls_hostname: str = "") -> None:
        if is_stepped():
            from jsctl.nats.blocking_driver import BlockingDriver

            self._driver = BlockingDriver(self.settings)
            follow_into_loop(self._move)
            return
        from jsctl.nats.asyncio_driver import AsyncioDriver

        driver = AsyncioDriver(self.settings, self._handle_event, reconnect=reconnect, tls_host=tls_hostname)
        await driver.open()
        self._driver = driver

    async def _move(self) -> None:
        """Connect anew, as an event loop has begun. Raises what `open` raises."""
        if not self._is_closing:
            await cast("BlockingDriver", self._driver).finish_requests()
            await self._driver.close()
            await self._connect()

    @property
    def server_info(self) -> Mapping[str, Any]:
        """The server's INFO (version, server_id, domain, cluster, max_payload ...)."""
        return self._driver.protocol.info

    @property
    def url(self) -> str:
        """The URL that it is or was connected to, without credentials."""
        return self._driver.url

    def socket_info(self, name: str) -> Any:
        """Return what asyncio knows of the socket (`peername`, `sockname`, `ssl_object`), or None."""
        return self._driver.socket_info(name)

    @property
    def is_connected(self) -> bool:
        """Whether the connection is established at present."""
        return self._driver.is_connected

    @property
    def max_payload(self) -> int:
        """Maximum number of bytes that the server accepts in headers and data."""
        return self._driver.protocol.max_payload

    # -- requests -----------------------------------------------------------------------------------

    async def request(self, subject: str, data: bytes = b"", *, timeout: int | None = None) -> Message:
        """Return one reply. `timeout` in ns.

        Raises NoResponders, RequestTimeout, Denied, Unreachable, BadInput.
        """
        if subject.split() != [subject]:
            raise BadInput(f"{subject!r} is not a valid subject to publish to")
        return await self.request_message(OutgoingMessage(subject, data), timeout=timeout)

    async def request_message(self, message: OutgoingMessage, *, timeout: int | None = None) -> Message:
        """Send a request with headers and a valid subject, as `request` does; return the reply. `timeout` in
        ns."""
        self.check_size(message)
        return await self._driver.request(message, timeout or self.settings.timeout)

    # -- publishing and subscribing -----------------------------------------------------------------

    async def publish(self, subject: str, data: bytes = b"", *, reply: str = "") -> None:
        """Publish a message. It has been sent when this returns, and the server has it after `flush`.

        Raises BadInput, Unreachable.
        """
        if subject.split() != [subject]:  # the rest may be a token of a request
            raise BadInput(f"{subject!r} is not a valid subject to publish to")
        self.check_size(OutgoingMessage(subject, data))
        await self.send(encode_publish(subject, data, reply))

    def check_size(self, message: OutgoingMessage) -> None:
        """Raise BadInput for a message that is larger than the server accepts: it would close the
        connection."""
        if message.size > self.max_payload:
            raise BadInput(f"the message has {message.size:,} bytes, the server accepts {self.max_payload:,}")

    @contextlib.asynccontextmanager
    async def subscribe(self, subject: str, *, queue: str = "") -> AsyncIterator["Subscription"]:
        """Yield interest in a subject; see Subscription. Raises as `receive` does."""
        from jsctl.nats.subscription import Subscription

        subscription = Subscription()
        async with self.receive(subject, subscription.add, queue=queue):
            with self.watching(subscription.watch):
                yield subscription

    @contextlib.asynccontextmanager
    async def receive(
        self, subject: str, handler: MessageHandler, *, queue: str = "", bulk: BulkReader | None = None
    ) -> AsyncIterator[None]:
        """Call `handler` for each message, as soon as it is read, until the block ends. 100,000 messages cost
        0.2 s of processor time. bulk: reads runs of messages in place of the handler.

        Raises BadInput, Unreachable, Denied for an inbox.
        """
        interest = await self.listen(subject, handler, queue=queue, bulk=bulk)
        try:
            yield
        finally:
            cast("AsyncioDriver", self._driver).unsubscribe(interest)

    async def listen(
        self, subject: str, handler: MessageHandler, *, queue: str = "", bulk: BulkReader | None = None
    ) -> Interest:
        """Call `handler` for each message until the connection is closed; otherwise as `receive`."""
        await enter_event_loop()
        return await cast("AsyncioDriver", self._driver).subscribe(subject, handler, queue, bulk)

    async def send(self, *frames: bytes) -> None:
        """Send frames (see codec), and wait while the socket takes no more. Large ones need not be joined.

        100,000 messages in bursts cost 0.04 s of processor time. While the connection is lost it waits for
        the next one, up to the settings' timeout. Raises Unreachable.
        """
        if not self._driver.is_connected:
            await self.wait_until_connected()
        await self._driver.send(*frames)

    async def send_now(self, *frames: bytes) -> None:
        """Send frames as `send` does, without a turn of the event loop if that is possible, and handle
        what arrives meanwhile: for bulk data while nothing else runs in the loop. Raises Unreachable."""
        if not self._driver.is_connected:
            await self.wait_until_connected()
        await self._driver.send_now(*frames)

    def post(self, frames: bytes, *, now: bool = False) -> None:
        """Send frames without waiting, for acknowledgements from within a MessageHandler.

        now: pass them to the system before this returns.
        """
        self._driver.post(frames, now=now)

    def read_now(self, seconds: float) -> bool:
        """Block for up to `seconds`, at most 0.05, until data arrives, and call its handlers without a turn
        of the event loop: for an answer that is expected at once. Returns False if the loop is needed."""
        return self._driver.read_now(seconds)

    async def wait_until_connected(self, timeout: int | None = None) -> None:
        """Wait until a lost connection is made again, for at most `timeout` ns. Raises Unreachable."""
        await self._driver.wait_until_connected((timeout or self.settings.timeout) / SECOND)

    def new_inbox(self) -> str:
        """Return a new subject below the inbox prefix."""
        return self._driver.protocol.new_inbox()

    async def flush(self, timeout: int | None = None) -> None:
        """Wait until the server has processed what was sent. `timeout` in ns.

        Raises Unreachable, at once when the connection is lost, as what was sent may be lost with it.
        """
        if not await self._flush(timeout or self.settings.timeout):
            raise Unreachable(f"lost the connection to {self.url}")

    async def settle(self) -> None:
        """Wait until the server knows all subscriptions, also on the next connection. Raises Unreachable."""
        while not await self._flush(self.settings.timeout):
            await sleep(0.02)

    async def _flush(self, timeout: int) -> bool:
        if not self._driver.is_connected:
            await self.wait_until_connected(timeout)
        try:
            return await self._driver.ping(timeout / SECOND)
        except TimeoutError:
            raise Unreachable(f"lost the connection to {self.url}: it does not answer") from None

    async def measure_rtt(self) -> int:
        """Return the round-trip time to the connected server in ns. Raises Unreachable."""
        started_at = time.perf_counter_ns()
        try:
            if not (self.is_connected and await self._driver.ping(self.settings.timeout / SECOND)):
                raise ConnectionError("the connection was lost")
            return time.perf_counter_ns() - started_at
        except OSError as error:  # TimeoutError is one
            raise Unreachable(f"no answer to a ping: {describe_error(error)}") from None

    async def close(self) -> None:
        """Close at once; what was published and not flushed may be lost."""
        self._is_closing = True
        await self._driver.close()

    # -- events -------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def watching(self, handler: EventHandler) -> Iterator[None]:
        """Call `handler` with each event as long as the context is open."""
        self._handlers.append(handler)
        try:
            yield
        finally:
            self._handlers.remove(handler)

    def _handle_event(self, event: ConnectionEvent) -> None:
        if self._is_closing:
            return
        is_error = isinstance(event, ErrorReported)
        if is_error and event.text == self._last_error and not self.is_connected:
            return  # each attempt to connect again repeats it
        # An event is reported before handlers act on it; an error only when none of them handled it.
        if is_error:
            self._last_error = event.text
        elif self._on_event:
            self._on_event(event)
        is_handled = [handler(event) for handler in list(self._handlers)]
        if self._on_event and is_error and not any(is_handled):
            self._on_event(event)
