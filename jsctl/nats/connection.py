"""The connection of commands: asyncio, over nats-py (see nats_py).

It adds what nats-py leaves to its users: a first connection that fails at once and says why, a timeout
on everything, refused publishes distinguished from silence, typed events, no secret in any message.

This file is long because each function that needs asyncio or nats-py imports it.
"""

import contextlib
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from jsctl.base.loops import await_event_loop, sleep
from jsctl.base.units import SECOND
from jsctl.contexts.model import strip_login
from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput, JsctlError, NoResponders, RequestTimeout, Unreachable
from jsctl.nats import login
from jsctl.nats.addresses import ServerAddress, divide_timeout, parse_addresses
from jsctl.nats.codec import ServerError, Tally, encode_publish
from jsctl.nats.events import (
    Closed,
    ConnectionEvent,
    Disconnected,
    ErrorReported,
    EventHandler,
    PermissionDenied,
    Reconnected,
    denied_error,
)
from jsctl.nats.failures import choose_most_telling, connection_error, describe_error
from jsctl.nats.message import Message, MessageHandler, OutgoingMessage, is_no_responders
from jsctl.nats.receiver import Receiver
from jsctl.nats.tls import build_tls_options

if TYPE_CHECKING:
    import asyncio

    from jsctl.nats.nats_py import NatsClient
    from jsctl.nats.subscription import Subscription


class Connection:
    """One connection to a NATS network. Use `Connection.open`."""

    def __init__(self, settings: Settings, on_event: EventHandler | None) -> None:
        self._client: NatsClient  #: set by `open`
        self._fault: JsctlError | None = None  #: why it was closed for good
        self._on_event = on_event
        self._handlers: list[EventHandler] = []
        self._requests: dict[str, tuple[str, asyncio.Future[Message]]] = {}  #: subject, by reply subject
        self._replies = ""  #: the inbox for replies to requests; empty before the first one
        self._opening: asyncio.Lock | None = None  #: while that is subscribed to
        self._number = 0
        self._may_receive = False  #: whether the server has accepted a subscription to an inbox
        self._unconfirmed: dict[str, JsctlError | None] = {}  #: inboxes, and why they are refused
        self._is_live = False  #: connected once
        self._is_closing = False
        self._url = ""  #: of the last server
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
        from asyncio import timeout

        from jsctl.nats.nats_py import ClientError, NatsClient

        settings = self.settings
        addresses = parse_addresses(settings.url)
        failures: list[JsctlError] = []
        for address, seconds in divide_timeout(addresses, settings.timeout):
            self._fault = None
            self._client = NatsClient(settings, self._handle_refusal, self._handle_broken)
            options = await login.build_authentication(settings, address) | build_tls_options(
                settings, address
            )
            if tls_hostname:
                options["tls_hostname"] = tls_hostname
            try:
                async with timeout(seconds):
                    await self._connect_to(address, options)
            except (OSError, ValueError, ImportError, ClientError, TimeoutError) as error:
                failures.append(connection_error(error, address, settings))
            else:
                self._client.reconnect_to((a.url for a in addresses if a != address), reconnect=reconnect)
                return
            finally:
                if not self._is_live:
                    await self._client.abandon()
        raise choose_most_telling(failures, settings)

    async def _connect_to(self, address: ServerAddress, options: Mapping[str, Any]) -> None:
        """Make one attempt at one server. Raises what nats-py raises."""
        client = self._client
        await client.open(
            address.url,
            name=self.settings.connection_name or "jsctl",
            connect_timeout=self.settings.timeout / SECOND,
            reconnect_time_wait=0.5,
            inbox_prefix=self.settings.inbox_prefix,
            error_cb=self._handle_error,
            disconnected_cb=self._build_notifier(client, Disconnected, "connection lost"),
            reconnected_cb=self._build_notifier(client, Reconnected, "connected again"),
            closed_cb=self._build_notifier(client, Closed, "the connection was closed for good"),
            **options,
        )
        self._is_live = True
        self._url = self.url

    async def _get_client(self) -> "NatsClient":
        return self._client

    @property
    def server_info(self) -> Mapping[str, Any]:
        """The server's INFO (version, server_id, domain, cluster, max_payload ...)."""
        return self._client.server_info

    @property
    def url(self) -> str:
        """The URL that it is or was connected to, without credentials."""
        if connected := self._client.connected_url:
            self._url = strip_login(connected.geturl())
        return self._url or strip_login(self.settings.url)

    def socket_info(self, name: str) -> Any:
        """Return what asyncio knows of the socket (`peername`, `sockname`, `ssl_object`), or None."""
        return self._client.socket_info(name)

    @property
    def is_connected(self) -> bool:
        """Whether the connection is established at present."""
        return self._client.is_connected

    @property
    def max_payload(self) -> int:
        """Maximum number of bytes that the server accepts in headers and data."""
        return self._client.max_payload

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
        subject = message.subject
        limit = (timeout or self.settings.timeout) / SECOND
        import asyncio

        future: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        reply = ""
        try:
            async with asyncio.timeout(limit):
                await self._open_replies()
                self._number += 1
                reply = f"{self._replies}.{self._number}"
                self._requests[reply] = subject, future
                await self.send(message.encode(reply))
                answer = await future
        except TimeoutError:
            if self._fault:
                raise self._fault from None
            if not self._client.is_connected:
                raise Unreachable(f"lost the connection to {self.url}") from None
            raise RequestTimeout(f"no answer on {subject} in {limit:g}s") from None
        finally:
            self._requests.pop(reply, None)
        if is_no_responders(answer):
            raise NoResponders(f"nobody answers on {subject}")
        return answer

    async def _open_replies(self) -> None:
        """Subscribe to the replies of all requests, at the first of them."""
        if self._replies:
            return
        from asyncio import Lock

        self._opening = self._opening or Lock()
        async with self._opening:
            if not self._replies:
                inbox = self.new_inbox()
                await self.receive(f"{inbox}.*", self._handle_reply).__aenter__()
                self._replies = inbox

    def _handle_reply(self, message: Message) -> None:
        _, future = self._requests.pop(message.subject, (None, None))
        if future is not None and not future.done():
            future.set_result(message)

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

    def subscribe(self, subject: str, *, queue: str = "") -> "Subscription":
        """Return an async context manager; see Subscription."""
        from jsctl.nats.subscription import Subscription

        return Subscription(partial(self.receive, subject, queue=queue), self.watching)

    def receive(
        self, subject: str, handler: MessageHandler, *, queue: str = "", tally: Tally | None = None
    ) -> Receiver:
        """Return an async context manager: while it is open, `handler` is called for each message, as soon as
        it is read. 100,000 messages cost 0.2 s of processor time. tally: counts messages in place of handling
        them (see Tally).

        Raises BadInput, Unreachable, Denied for an inbox.
        """
        return Receiver(self._get_client, subject, handler, queue, tally, self._confirm)

    async def _confirm(self, subject: str) -> None:
        """Raise Denied if the server refuses the first inbox: requests would be done without an answer."""
        is_inbox = subject.startswith(f"{self.settings.inbox_prefix}.")
        if self._may_receive or not is_inbox or not self.is_connected:
            return
        self._unconfirmed[subject] = None
        with contextlib.suppress(Unreachable):  # which the request reports
            await self.flush()
        if refusal := self._unconfirmed.pop(subject):
            raise refusal
        self._may_receive = True

    async def send(self, *frames: bytes) -> None:
        """Send frames (see codec), and wait while the socket takes no more. Large ones need not be joined.

        100,000 messages in bursts cost 0.04 s of processor time. While the connection is lost it waits for
        the next one, up to the settings' timeout. Raises Unreachable.
        """
        if not self._client.is_connected:
            await self.wait_until_connected()
        try:
            await self._client.send(*frames)
        except OSError as error:
            raise Unreachable(f"lost the connection to {self.url}: {describe_error(error)}") from None

    async def send_now(self, *frames: bytes) -> None:
        """Send frames as `send` does, without a turn of the event loop if that is possible, and handle
        what arrives meanwhile: for bulk data while nothing else runs in the loop. Raises Unreachable."""
        if not self._client.is_connected:
            await self.wait_until_connected()
        try:
            await self._client.send_now(*frames)
        except OSError as error:
            raise Unreachable(f"lost the connection to {self.url}: {describe_error(error)}") from None

    def post(self, frames: bytes, *, now: bool = False) -> None:
        """Send frames without waiting, for acknowledgements from within a MessageHandler.

        now: pass them to the system before this returns.
        """
        (self._client.write if now else self._client.post)(frames)

    def read_now(self, seconds: float) -> bool:
        """Block for up to `seconds`, at most 0.05, until data arrives, and call its handlers without a turn
        of the event loop: for an answer that is expected at once. Returns False if the loop is needed."""
        return self._client.read_now(seconds)

    async def wait_until_connected(self, timeout: int | None = None) -> None:
        """Wait until a lost connection is made again, for at most `timeout` ns. Raises Unreachable."""
        import asyncio

        deadline = asyncio.get_running_loop().time() + (timeout or self.settings.timeout) / SECOND
        while not self._client.is_connected:
            if self._fault:
                raise self._fault
            if self._client.is_closed or asyncio.get_running_loop().time() > deadline:
                raise Unreachable(f"lost the connection to {self.url}")
            await asyncio.sleep(0.02)

    def new_inbox(self) -> str:
        """Return a new subject below the inbox prefix."""
        return self._client.new_inbox()

    async def flush(self, timeout: int | None = None) -> None:
        """Wait until the server has processed what was sent. `timeout` in ns.

        Raises Unreachable, at once when the connection is lost, as what was sent may be lost with it.
        """
        if not await self._flush(timeout or self.settings.timeout):
            raise Unreachable(f"lost the connection to {self.url}")

    async def settle(self) -> None:
        """Wait until the server knows all subscriptions, also on the next connection. Raises Unreachable."""
        while not await self._flush(self.settings.timeout):
            await sleep(0.02)  # nats-py may not have noticed yet

    async def _flush(self, timeout: int) -> bool:
        from jsctl.nats import round_trips

        if not self._client.is_connected:
            await self.wait_until_connected(timeout)
        return await round_trips.flush(self._client, timeout, self.watching, self.url)

    async def measure_rtt(self) -> int:
        """Return the round-trip time to the connected server in ns. Raises Unreachable."""
        from jsctl.nats import round_trips

        return await round_trips.measure(self._client, self.settings.timeout)

    async def close(self) -> None:
        """Close at once; what was published and not flushed may be lost."""
        from jsctl.nats.nats_py import ClientError

        self._is_closing = True
        with contextlib.suppress(ClientError, OSError):
            await self._client.close()

    # -- events -------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def watching(self, handler: EventHandler) -> Iterator[None]:
        """Call `handler` with each event as long as the context is open."""
        self._handlers.append(handler)
        try:
            yield
        finally:
            self._handlers.remove(handler)

    def _notify(self, event: ConnectionEvent) -> None:
        # An event is reported before handlers act on it; an error only when none of them handled it.
        is_error = isinstance(event, ErrorReported)
        if self._on_event and not is_error:
            self._on_event(event)
        is_handled = [handler(event) for handler in list(self._handlers)]
        if self._on_event and is_error and not any(is_handled):
            self._on_event(event)

    def _build_notifier(
        self, client: "NatsClient", kind: type[ConnectionEvent], text: str
    ) -> Callable[[], Awaitable[None]]:
        async def notify() -> None:
            if self._client is client and self._is_live and not self._is_closing:
                if self._fault is None:
                    self._notify(kind(f"{text} ({self.url})"))
                elif kind is Closed:
                    self._notify(Closed(str(self._fault), self._fault))

        return notify

    def _handle_broken(self, error: JsctlError) -> None:
        """Handle the end of the connection for good: fail all open requests."""
        self._fault = error
        for _, future in self._requests.values():
            if not future.done():
                future.set_exception(error)

    def _handle_refusal(self, error: ServerError) -> None:
        """Handle a permission violation: fail what waits for its subject, or else report it."""
        if (violation := error.violation) is None:
            return
        refusal = denied_error(*violation, self.settings.inbox_prefix)
        if violation.operation == "subscription" and violation.subject in self._unconfirmed:
            self._unconfirmed[violation.subject] = refusal
            return
        waiting = [
            future
            for subject, future in self._requests.values()
            if not future.done() and violation == ("publish", subject)
        ]
        for future in waiting:
            future.set_exception(refusal)
        if not waiting:
            self._report(PermissionDenied(error.text, *violation, self.settings.inbox_prefix))

    async def _handle_error(self, error: Exception) -> None:
        """Handle an error of nats-py."""
        if not self._is_live:
            raise error  # ends nats-py's connect, which would retry for minutes
        from jsctl.nats.nats_py import StaleConnection

        # Disconnected has reported a lost connection; each attempt to reconnect would report it again.
        if not isinstance(error, (OSError, TimeoutError, StaleConnection)):
            self._report(ErrorReported(describe_error(error)))

    def _report(self, event: ErrorReported) -> None:
        """Notify of an error once, although each attempt to reconnect repeats it."""
        if event.text != self._last_error or self.is_connected:
            self._last_error = event.text
            self._notify(event)
