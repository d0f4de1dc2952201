"""The driver of a connection in an event loop.

It moves the bytes of `protocol`, through TCP, TLS, a SOCKS5 proxy or a websocket, and connects again when the
connection is lost. nats-py does what it does better than we would: websockets (see `websocket`).

This file is long because all that can happen to one connection is in one place.
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from jsctl.base.units import SECOND
from jsctl.contexts.model import strip_login
from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput, JsctlError, MissingDependency, RequestTimeout, Unreachable
from jsctl.nats import login, proxy
from jsctl.nats.addresses import ServerAddress, divide_timeout, parse_addresses
from jsctl.nats.codec import BURST, BulkReader
from jsctl.nats.events import (
    Closed,
    ConnectionEvent,
    Disconnected,
    ErrorReported,
    PermissionDenied,
    Reconnected,
)
from jsctl.nats.failures import choose_most_telling, connection_error, describe_error
from jsctl.nats.message import Message, MessageHandler, OutgoingMessage
from jsctl.nats.outcomes import ConnectionLost, EndedByServer, Event, Failed, Refused, only_reads
from jsctl.nats.protocol import Interest, Protocol
from jsctl.nats.tcp_link import TcpLink
from jsctl.nats.tls import TlsOptions, build_tls_options

if TYPE_CHECKING:
    from jsctl.nats.websocket import WebsocketLink

_CLOSE_TIMEOUT = 1
"""Seconds that `close` may take."""

_PAUSE = 0.5
"""Seconds between two attempts to connect to the same server again."""

_PING_INTERVAL = 120
"""Seconds between two pings while nothing else is asked."""

_MAX_UNANSWERED = 2
"""Pings in a row without an answer after which a connection is lost."""


class AsyncioDriver:
    """One connection after the other for one Protocol.

    on_event: called with each event, once the first connection is there. reconnect: whether to connect again.
    tls_host: the name in the server's certificate, when the URL has an address instead. fault: why the
    connection was ended for good.
    """

    def __init__(
        self,
        settings: Settings,
        on_event: Callable[[ConnectionEvent], object],
        *,
        reconnect: bool = True,
        tls_host: str = "",
    ) -> None:
        self._settings = settings
        self._on_event = on_event
        self._may_reconnect = reconnect
        self._tls_host = tls_host
        self._socks = proxy.parse_proxy(settings.socks_proxy) if settings.socks_proxy else None
        self._authenticate: login.Authenticate = lambda nonce: {}
        self._tls = TlsOptions()
        self._address = ServerAddress("")
        self._servers: dict[str, ServerAddress] = {}  #: all that are known, by URL
        self._link: TcpLink | WebsocketLink | None = None
        self._progress = asyncio.Event()  #: while it connects
        self._failure: Exception | None = None  #: why it does not connect
        self._is_live = False  #: whether it is connected, or was and noticed no loss
        self._reconnecting: asyncio.Task[None] | None = None
        self._alarm: asyncio.TimerHandle | None = None
        self._unanswered = 0  #: pings
        self._is_busy = False  #: whether something that was received is being handled
        self._size = 0  #: bytes of single frames that are pending
        self._is_scheduled = False  #: whether what is pending will be sent
        self._reads: set[asyncio.Event] = set()  #: of requests that are repeated when the connection is lost
        self._may_receive = False  #: whether the server has accepted a subscription to an inbox
        self.protocol = Protocol(settings.connection_name or "jsctl", settings.inbox_prefix)
        self.protocol.on_refusal = self._report_refusal
        self.fault: JsctlError | None = None
        self.is_closed = False

    # -- connecting ---------------------------------------------------------------------------------

    async def open(self) -> None:
        """Connect to the first server that can be reached. Raises Unreachable, Denied or BadInput within the
        settings' timeout."""
        settings = self._settings
        addresses = parse_addresses(settings.url)
        failures: list[JsctlError] = []
        for address, seconds in divide_timeout(addresses, settings.timeout):
            self._authenticate = login.build_authentication(settings, address)
            self._tls = build_tls_options(settings, address)
            try:
                await self._connect(address, seconds)
            except (BadInput, MissingDependency):
                raise
            except (OSError, ValueError, ConnectionLost, JsctlError) as error:
                failures.append(connection_error(error, address, settings))
            else:
                self._add_servers(addresses)
                return
        raise choose_most_telling(failures, settings)

    def _make_link(self, address: ServerAddress) -> "TcpLink | WebsocketLink":
        if not address.url.startswith("ws"):
            return TcpLink(self._handle_data, self._handle_end)
        from jsctl.nats.websocket import WebsocketLink  # only where it is needed

        return WebsocketLink(self._handle_data, self._handle_end)

    async def _connect(self, address: ServerAddress, seconds: float) -> None:
        """Make one attempt at one server. Raises OSError, ConnectionLost, JsctlError."""
        protocol, tls, tls_host = self.protocol, self._tls, self._tls_host or address.tls_host
        is_websocket = address.url.startswith("ws")
        begins_with_tls = tls.is_first or address.url.startswith("wss")
        has_tls = begins_with_tls or (is_websocket and not tls.is_wanted)
        link = self._make_link(address)
        self._link, self._failure = link, None
        try:
            async with asyncio.timeout(seconds):
                protocol.begin(self._authenticate, wants_tls=tls.is_wanted, has_tls=has_tls)
                await link.connect(
                    address, self._socks, tls.get_context() if begins_with_tls else None, tls_host
                )
                while not (protocol.is_ready or self._failure):
                    self._progress.clear()
                    if protocol.needs_tls:
                        await link.start_tls(tls.get_context(), tls_host)
                        protocol.continue_with_tls()
                        self._flush()
                    await self._progress.wait()
                if self._failure:
                    raise self._failure
        except BaseException:
            link.abort()
            protocol.end()
            raise
        self._address = address
        self._is_live = True
        self._add_servers(address.list_others(protocol.info))
        self._unanswered = 0
        self._schedule_ping()
        self._flush()

    def _add_servers(self, addresses: Iterable[ServerAddress]) -> None:
        """Add servers for which the login that worked is valid, too."""
        for address in (self._address, *addresses):
            self._servers.setdefault(f"{address.host}:{address.port}", address)

    @property
    def url(self) -> str:
        """The URL that it is or was connected to, without credentials."""
        return self._address.full_url if self._address.url else strip_login(self._settings.url)

    @property
    def is_connected(self) -> bool:
        """Whether the connection is established at present."""
        return self._is_live and self.protocol.is_ready

    def socket_info(self, name: str) -> object:
        """Return what asyncio knows of the socket, None when there is no socket."""
        return self._link.info(name) if self._link else None

    # -- the end of a connection --------------------------------------------------------------------

    async def close(self) -> None:
        """Close within `_CLOSE_TIMEOUT`."""
        self.is_closed, self._is_live = True, False
        self._stop_pinging()
        if self._reconnecting:
            self._reconnecting.cancel()
            await asyncio.wait([self._reconnecting])
        if link := self._link:
            self._flush()
            self.protocol.stop()
            try:
                async with asyncio.timeout(_CLOSE_TIMEOUT):
                    await link.close()
            except TimeoutError:  # it waits for a server that reads nothing
                link.abort()

    def _handle_end(self, error: Exception | None) -> None:
        """Handle the end of the transport."""
        self._fail(error if isinstance(error, OSError) else self.protocol.explain_end())

    def _fail(self, error: Exception) -> None:
        """Handle what ends a connection, or an attempt at one."""
        if not self._is_live:
            self._failure = error
            self._progress.set()
        elif isinstance(error, JsctlError):
            self._finish(error)
        else:
            self._drop()
            for changed in self._reads:
                changed.set()
            self._on_event(Disconnected(f"connection lost ({self.url})"))
            if self._may_reconnect and not isinstance(error, EndedByServer):
                if not self.is_closed:
                    self._reconnecting = asyncio.ensure_future(self._reconnect())
            else:
                self._finish(None)

    def _drop(self) -> None:
        """End the connection at once."""
        self._is_live = False
        self._stop_pinging()
        if self._link:
            self._link.abort()
        self.protocol.end()

    def _finish(self, fault: JsctlError | None) -> None:
        """End the connection for good."""
        self.is_closed, self.fault = True, fault
        self._drop()
        self.protocol.fail_requests(fault or self._lost_error())
        text = str(fault) if fault else f"the connection was closed for good ({self.url})"
        self._on_event(Closed(text, fault))

    async def _reconnect(self) -> None:
        """Connect to any known server."""
        import random  # 1 ms

        loop = asyncio.get_running_loop()
        servers = list(self._servers.values())
        random.shuffle(servers)
        tried_at = dict.fromkeys(servers, 0.0)
        while True:
            for address in servers:
                await asyncio.sleep(max(0.0, tried_at[address] + _PAUSE - loop.time()))
                tried_at[address] = loop.time()
                try:
                    await self._connect(address, self._settings.timeout / SECOND)
                except (OSError, ValueError, ConnectionLost, JsctlError) as error:
                    # Disconnected has reported a lost connection; each attempt would report it again.
                    if not isinstance(error, OSError):
                        self._on_event(ErrorReported(describe_error(error)))
                else:
                    self._on_event(Reconnected(f"connected again ({self.url})"))
                    return

    async def wait_until_connected(self, seconds: float) -> None:
        """Wait until a lost connection is made again. Raises Unreachable."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        while not self.is_connected:
            if self.fault:
                raise self.fault
            if self.is_closed or loop.time() > deadline:
                raise self._lost_error()
            await asyncio.sleep(0.02)

    def _lost_error(self, error: Exception | None = None) -> Unreachable:
        reason = f": {describe_error(error)}" if error else ""
        return Unreachable(f"lost the connection to {self.url}{reason}")

    # -- requests and subscriptions -----------------------------------------------------------------

    async def request(self, message: OutgoingMessage, timeout: int) -> Message:
        """See `Connection.request`. What only reads is repeated when the connection is lost. timeout: ns."""
        limit, changed, request, was_lost = timeout / SECOND, asyncio.Event(), None, False
        try:
            async with asyncio.timeout(limit):
                if not (self._may_receive and self.protocol.inbox_interest):
                    await self._confirm(self.protocol.open_inbox())
                while True:
                    request = self.protocol.begin_request(message, changed.set)
                    if not self.is_connected:
                        await self.wait_until_connected(limit)
                    if only_reads(message.subject):
                        self._reads.add(changed)
                    await self.send(request.frame)
                    await changed.wait()
                    if request.is_ended and not (was_lost and request.is_unheard):
                        break
                    changed.clear()
                    self.protocol.forget(request)
                    was_lost = True
                    if request.is_unheard:  # JetStream is not ready yet
                        await asyncio.sleep(_PAUSE)
        except TimeoutError:
            if self.fault:
                raise self.fault from None
            if not self.is_connected:
                raise self._lost_error() from None
            if request is None:
                raise RequestTimeout(f"no answer on {message.subject} in {limit:g}s") from None
        finally:
            self._reads.discard(changed)
            if request:
                self.protocol.forget(request)
        return request.get_reply(limit)

    async def subscribe(
        self, subject: str, handler: MessageHandler, queue: str, bulk: BulkReader | None
    ) -> Interest:
        """See `Connection.receive`."""
        interest = self.protocol.subscribe(subject, handler, queue=queue, bulk=bulk)
        self.schedule()
        try:
            await self._confirm(interest)
        except BaseException:
            self.unsubscribe(interest)
            raise
        return interest

    def unsubscribe(self, interest: Interest) -> None:
        """End a subscription."""
        self.protocol.unsubscribe(interest)
        self.schedule()

    async def _confirm(self, interest: Interest) -> None:
        """Raise Denied if the server refuses the first inbox: requests would be done without an answer."""
        is_inbox = interest.subject.startswith(f"{self._settings.inbox_prefix}.")
        if self._may_receive or not is_inbox or not self.is_connected:
            return
        interest.is_unconfirmed = True
        with contextlib.suppress(TimeoutError):  # which the request reports
            await self.ping(self._settings.timeout / SECOND)
        interest.is_unconfirmed = False
        if interest.refusal:
            raise interest.refusal
        self._may_receive = True

    # -- pings --------------------------------------------------------------------------------------

    async def ping(self, seconds: float) -> bool:
        """Wait until the server has processed what was sent; return False when the connection is lost
        meanwhile. Raises TimeoutError after `seconds` without an answer."""
        answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

        def end(is_answered: bool) -> None:
            if not answer.done():
                answer.set_result(is_answered)

        self.protocol.ping(end)
        try:
            await self.send_pending()
        except OSError:
            return False
        async with asyncio.timeout(seconds):
            return await answer

    def _schedule_ping(self) -> None:
        self._stop_pinging()
        self._alarm = asyncio.get_running_loop().call_later(_PING_INTERVAL, self._ping_again)

    def _ping_again(self) -> None:
        """Notice a connection that is lost without a sign."""
        if self._unanswered == _MAX_UNANSWERED:
            self._fail(ConnectionLost("stale connection"))
            return
        self._unanswered += 1
        self.protocol.ping(self._reset_unanswered)
        self._flush()
        self._schedule_ping()

    def _reset_unanswered(self, is_answered: bool) -> None:
        self._unanswered = 0

    def _stop_pinging(self) -> None:
        if self._alarm:
            self._alarm.cancel()

    # -- receiving ----------------------------------------------------------------------------------

    def _handle_data(self, data: bytes) -> None:
        self._is_busy = True
        try:
            events = self.protocol.receive(data)
        finally:
            self._is_busy = False
        if self.protocol.has_output:
            self._flush()
        for event in events:
            self._handle(event)

    def _handle(self, event: Event) -> None:
        if isinstance(event, Failed):
            self._fail(event.error)
        else:
            self._progress.set()

    def _report_refusal(self, refusal: Refused) -> None:
        self._on_event(PermissionDenied(refusal.text, *refusal.violation, self._settings.inbox_prefix))

    def read_now(self, seconds: float) -> bool:
        """Wait for the next data, and handle it without the event loop. See Connection.read_now.

        Returns False if the loop must do it: with TLS, at the end of the connection, and when nothing arrives
        in time.
        """
        if self._is_busy or not (self._link and self.is_connected):
            return False
        if not (data := self._link.read_now(seconds)):
            return False
        self._handle_data(data)
        return True

    # -- sending ------------------------------------------------------------------------------------

    async def send(self, frames: bytes, *more_frames: bytes) -> None:
        """See `Connection.send`; a burst, or several frames at once, waits until the socket accepts more."""
        output = self.protocol.output
        output.append(frames)
        self._size += len(frames)
        if more_frames:
            output += more_frames
        elif self._size < BURST:
            self.schedule()
            return
        try:
            await self.send_pending()
        except OSError as error:
            raise self._lost_error(error) from None
        if not more_frames:
            await asyncio.sleep(0)  # others may want to go on

    def post(self, frames: bytes, *, now: bool) -> None:
        """Send frames without waiting. now: at once instead of in the next turn of the event loop: a request
        takes a third less time."""
        self.protocol.output.append(frames)
        (self._flush if now else self.schedule)()

    def schedule(self) -> None:
        """Send what is pending in the next turn of the event loop, together with what is added till then."""
        if not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._flush)

    def _flush(self) -> None:
        """Hand what is pending to the system."""
        self._is_scheduled = False
        self._size = 0
        if self._link and (blocks := self.protocol.take_output()):
            self._link.write(blocks)

    async def send_now(self, *frames: bytes) -> None:
        """See `Connection.send_now`."""
        try:
            await self._send_now(frames)
        except OSError as error:
            raise self._lost_error(error) from None

    async def _send_now(self, frames: Sequence[bytes]) -> None:
        self.protocol.output += frames
        link = self._link
        if link and link.handle >= 0 and self.is_connected:
            blocks = link.write_now(self.protocol.take_output(), lambda: self.read_now(0))
            if not self.is_connected:  # it was lost meanwhile, perhaps within a frame
                raise ConnectionResetError("the connection was lost")
            self.protocol.output[:0] = blocks
        if link and self.protocol.output:
            link.limit_unsent(0)  # the next frames can only then be sent without the loop
            try:
                await self.send_pending()
            finally:
                link.limit_unsent(None)

    async def send_pending(self) -> None:
        """Hand what is pending to the system, and wait while that is too much. Raises OSError when the
        connection is lost, or the server reads nothing for the timeout: TCP would wait longer, perhaps for
        ever."""
        self._flush()
        timeout = self._settings.timeout / SECOND
        unsent: int | None = None
        while link := self._link:
            try:
                async with asyncio.timeout(timeout):
                    await link.drain()
                return
            except TimeoutError:
                unsent_before, unsent = unsent, link.unsent_size
                if unsent_before is not None and unsent >= unsent_before:
                    self._fail(ConnectionLost("the server reads nothing"))
                    raise ConnectionError(f"the server read nothing for {timeout:g} seconds") from None
