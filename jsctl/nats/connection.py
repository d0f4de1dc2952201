"""The connection of commands.

What drivers leave to it: a timeout on everything, refused publishes distinguished from silence, typed events,
no secret in any message. It needs an event loop; `drivers` has one for verbs without.
"""

import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from jsctl.base.loops import await_event_loop, sleep
from jsctl.base.units import SECOND
from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput, RequestTimeout, Unreachable
from jsctl.nats import login
from jsctl.nats.codec import Tally, encode_publish
from jsctl.nats.events import ConnectionEvent, ErrorReported, EventHandler
from jsctl.nats.failures import describe_error
from jsctl.nats.message import Message, MessageHandler, OutgoingMessage
from jsctl.nats.protocol import Interest

if TYPE_CHECKING:
    from jsctl.nats.asyncio_driver import AsyncioDriver
    from jsctl.nats.blocking import BlockingConnection
    from jsctl.nats.subscription import Subscription


class Connection:
    """One connection to a NATS network. Use `Connection.open`."""

    def __init__(self, settings: Settings, on_event: EventHandler | None) -> None:
        self._driver: AsyncioDriver  #: set by `open`
        self._on_event = on_event
        self._handlers: list[EventHandler] = []
        self._may_receive = False  #: whether the server has accepted a subscription to an inbox
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
        self = cls(await login.prepare(settings), on_event)
        await self._connect(reconnect=reconnect, tls_hostname=tls_hostname)
        return self

    async def _connect(self, *, reconnect: bool = True, tls_hostname: str = "") -> None:
        """Connect to the first server that can be reached. See `open`."""
        await await_event_loop()
        from jsctl.nats.asyncio_driver import AsyncioDriver

        driver = AsyncioDriver(self.settings, self._handle_event, reconnect=reconnect, tls_host=tls_hostname)
        await driver.open()
        self._driver = driver

    async def _get_driver(self) -> "AsyncioDriver":
        return self._driver

    @property
    def _current(self) -> "AsyncioDriver | BlockingConnection":
        """The driver that has the connection at present."""
        return self._driver

    @property
    def server_info(self) -> Mapping[str, Any]:
        """The server's INFO (version, server_id, domain, cluster, max_payload ...)."""
        return self._current.protocol.info

    @property
    def url(self) -> str:
        """The URL that it is or was connected to, without credentials."""
        return self._current.url

    def socket_info(self, name: str) -> Any:
        """Return what asyncio knows of the socket (`peername`, `sockname`, `ssl_object`), or None."""
        return self._current.socket_info(name)

    @property
    def is_connected(self) -> bool:
        """Whether the connection is established at present."""
        return self._current.is_connected

    @property
    def max_payload(self) -> int:
        """Maximum number of bytes that the server accepts in headers and data."""
        return self._current.protocol.max_payload

    # -- requests -----------------------------------------------------------------------------------

    async def request(self, subject: str, data: bytes = b"", *, timeout: int | None = None) -> Message:
        """Return one reply. `timeout` in ns.

        Raises NoResponders, RequestTimeout, Denied, Unreachable, BadInput.
        """
        if not subject or any(c.isspace() for c in subject):
            raise BadInput(f"{subject!r} is not a valid subject to publish to")
        return await self.request_message(OutgoingMessage(subject, data), timeout=timeout)

    async def request_message(self, message: OutgoingMessage, *, timeout: int | None = None) -> Message:
        """Send a request with headers and a valid subject, as `request` does; return the reply."""
        self.check_size(message)
        limit = (timeout or self.settings.timeout) / SECOND
        import asyncio

        driver, ended = self._driver, asyncio.Event()
        request = None
        try:
            async with asyncio.timeout(limit):
                await self._open_inbox()
                request = driver.protocol.begin_request(message, ended.set)
                await self.send(request.frame)
                await ended.wait()
        except TimeoutError:
            if driver.fault:
                raise driver.fault from None
            if not driver.is_connected:
                raise Unreachable(f"lost the connection to {self.url}") from None
            if request is None:
                raise RequestTimeout(f"no answer on {message.subject} in {limit:g}s") from None
        finally:
            if request:
                driver.protocol.forget(request)
        return request.get_reply(limit)

    async def _open_inbox(self) -> None:
        """Subscribe to the replies of all requests, at the first of them."""
        if self._driver.protocol.inbox_interest is None or not self._may_receive:
            await self._confirm(self._driver.protocol.open_inbox())

    # -- publishing and subscribing -----------------------------------------------------------------

    async def publish(self, subject: str, data: bytes = b"", *, reply: str = "") -> None:
        """Publish a message. It has been sent when this returns, and the server has it after `flush`.

        Raises BadInput, Unreachable.
        """
        if not subject or any(c.isspace() for c in subject):  # the rest may be a token of a request
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
        await await_event_loop()
        from jsctl.nats.subscription import Subscription

        subscription = Subscription()
        async with self.receive(subject, subscription.add, queue=queue):
            with self.watching(subscription.watch):
                yield subscription

    @contextlib.asynccontextmanager
    async def receive(
        self, subject: str, handler: MessageHandler, *, queue: str = "", tally: Tally | None = None
    ) -> AsyncIterator[None]:
        """Call `handler` for each message, as soon as it is read, until the block ends. 100,000 messages cost
        0.2 s of processor time. tally: counts messages in place of handling them (see Tally).

        Raises BadInput, Unreachable, Denied for an inbox.
        """
        interest = await self.listen(subject, handler, queue=queue, tally=tally)
        try:
            yield
        finally:
            self._unsubscribe(interest)

    async def listen(
        self, subject: str, handler: MessageHandler, *, queue: str = "", tally: Tally | None = None
    ) -> Interest:
        """Call `handler` for each message until the connection is closed; otherwise as `receive`."""
        driver = await self._get_driver()
        interest = driver.protocol.subscribe(subject, handler, queue=queue, tally=tally)
        driver.schedule()
        try:
            await self._confirm(interest)
        except BaseException:
            self._unsubscribe(interest)
            raise
        return interest

    def _unsubscribe(self, interest: Interest) -> None:
        self._driver.protocol.unsubscribe(interest)
        self._driver.schedule()

    async def _confirm(self, interest: Interest) -> None:
        """Raise Denied if the server refuses the first inbox: requests would be done without an answer."""
        is_inbox = interest.subject.startswith(f"{self.settings.inbox_prefix}.")
        if self._may_receive or not is_inbox or not self.is_connected:
            return
        interest.is_unconfirmed = True
        with contextlib.suppress(Unreachable):  # which the request reports
            await self.flush()
        interest.is_unconfirmed = False
        if interest.refusal:
            raise interest.refusal
        self._may_receive = True

    async def send(self, *frames: bytes) -> None:
        """Send frames (see codec), and wait while the socket takes no more. Large ones need not be joined.

        100,000 messages in bursts cost 0.04 s of processor time. While the connection is lost it waits for
        the next one, up to the settings' timeout. Raises Unreachable.
        """
        if not self._driver.is_connected:
            await self.wait_until_connected()
        await self._send(self._driver.send(*frames))

    async def _send(self, work: Awaitable[None]) -> None:
        try:
            await work
        except OSError as error:
            raise Unreachable(f"lost the connection to {self.url}: {describe_error(error)}") from None

    async def send_now(self, *frames: bytes) -> None:
        """Send frames as `send` does, without a turn of the event loop if that is possible, and handle
        what arrives meanwhile: for bulk data while nothing else runs in the loop. Raises Unreachable."""
        if not self._driver.is_connected:
            await self.wait_until_connected()
        await self._send(self._driver.send_now(*frames))

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
        import asyncio

        driver = self._driver
        deadline = asyncio.get_running_loop().time() + (timeout or self.settings.timeout) / SECOND
        while not driver.is_connected:
            if driver.fault:
                raise driver.fault
            if driver.is_closed or asyncio.get_running_loop().time() > deadline:
                raise Unreachable(f"lost the connection to {self.url}")
            await asyncio.sleep(0.02)

    def new_inbox(self) -> str:
        """Return a new subject below the inbox prefix."""
        return self._current.protocol.new_inbox()

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
        driver, started_at = self._driver, time.perf_counter_ns()
        try:
            if not (driver.is_connected and await driver.ping(self.settings.timeout / SECOND)):
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
