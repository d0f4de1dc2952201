"""A connection on a blocking socket: of Spark's tasks, and by `blocking_driver` of commands without a loop.

It moves the bytes of `protocol`, and waits. A subclass may cut what it receives into frames itself (see
jsctl.spark.source.connection).
"""

import contextlib
import socket
import time
from collections.abc import Sequence
from typing import Any, NoReturn, Self

from jsctl.base import loops
from jsctl.base.units import SECOND
from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput, Denied, JsctlError
from jsctl.nats import login
from jsctl.nats.addresses import ServerAddress, divide_timeout, parse_addresses
from jsctl.nats.failures import choose_most_telling, connection_error
from jsctl.nats.message import Message, OutgoingMessage
from jsctl.nats.outcomes import ConnectionLost, Event, Failed, Refused, Request, TlsNeeded
from jsctl.nats.protocol import Protocol
from jsctl.nats.tls import build_tls_options

CHUNK, FIRST_CHUNK = 512 << 10, 64 << 10
"""Maximum number of bytes that are read at once, and until a read fills it: a large buffer takes half a
millisecond to make."""

Json = dict[str, Any]


class BlockingConnection:
    """One connection, for use by one thread. Every method raises ConnectionLost when it ends.

    received: number of bytes so far. is_connected: whether it lasts. address: the server's.
    """

    def __init__(self, link: socket.socket, address: ServerAddress, settings: Settings, name: str) -> None:
        self._socket = link
        self._chunk = min(FIRST_CHUNK, CHUNK)
        self._room = bytearray()  #: what is received comes here first
        self._settings = settings
        self.protocol = Protocol(name, settings.inbox_prefix)
        self.protocol.open_inbox()
        self.protocol.on_refusal = self._keep_refusal
        self._refusal: Denied | None = None  #: of a subject that no request waits for
        self.is_connected = True
        self.received = 0
        self.address = address

    @classmethod
    def open(
        cls,
        settings: Settings,
        name: str = "jsctl spark",
        learned: Sequence[ServerAddress] = (),
        *,
        in_order: bool = False,
    ) -> Self:
        """Connect to any server that accepts the login. Raises Unreachable, Denied or BadInput, within the
        settings' timeout.

        learned: addresses that other servers named (`other_addresses`), tried after those of the settings.
        in_order: try the settings' addresses in order; otherwise start with any of them.
        """
        settings = loops.run(login.prepare(settings))
        failures: list[JsctlError] = []
        addresses = parse_addresses(settings.url)
        if not in_order:
            import random

            random.shuffle(addresses)  # tasks spread over a cluster, and another attempt finds another server
        others = [address for address in learned if address.url not in {known.url for known in addresses}]
        for address, seconds in divide_timeout([*addresses, *others], settings.timeout):
            try:
                return cls._open(address, settings, name, seconds)
            except (OSError, ValueError, ConnectionLost, JsctlError) as error:
                failures.append(connection_error(error, address, settings))
        raise choose_most_telling([*failures[len(addresses) :], *failures[: len(addresses)]], settings)

    @classmethod
    def _open(cls, address: ServerAddress, settings: Settings, name: str, seconds: float) -> Self:
        if settings.socks_proxy or address.url.startswith("ws"):
            raise BadInput(
                "Spark reads over plain or TLS connections only", "use a nats:// or tls:// address"
            )
        deadline = time.monotonic() + seconds
        authenticate = login.build_authentication(settings, address)
        tls = build_tls_options(settings, address)
        # Text would be encoded with IDNA, whose tables take a millisecond to import.
        target: Any = address.host.encode() if address.host.isascii() else address.host
        link: socket.socket = socket.create_connection((target, address.port), seconds)
        try:
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if tls.is_first:
                link = tls.get_context().wrap_socket(link, server_hostname=address.tls_host)
            self = cls(link, address, settings, name)
            self.protocol.begin(authenticate, wants_tls=tls.is_wanted, has_tls=tls.is_first)
            while not self.protocol.is_ready:
                for event in self._read(deadline):
                    if isinstance(event, TlsNeeded):
                        link = self._socket = tls.get_context().wrap_socket(
                            link, server_hostname=address.tls_host
                        )
                        self.protocol.continue_with_tls()
                        self._send_output()
        except BaseException:
            link.close()
            raise
        return self

    @property
    def url(self) -> str:
        """The URL that it is or was connected to, without credentials."""
        return self.address.full_url

    def other_addresses(self) -> list[ServerAddress]:
        """Return the other servers that this one names in its INFO; they accept the same login."""
        return self.address.list_others(self.protocol.info)

    def flush(self, timeout: int = 0) -> None:
        """Wait until the server has processed what was sent. `timeout` in ns. Raises Denied, TimeoutError."""
        deadline = time.monotonic() + (timeout or self._settings.timeout) / SECOND
        answers: list[bool] = []
        self.protocol.ping(answers.append)
        self._send_output()
        while not answers:
            self.pump(deadline)

    def socket_info(self, name: str) -> Any:
        """Return `peername`, `sockname` or `ssl_object`, as asyncio does, or None."""
        if name == "ssl_object":
            return self._socket if hasattr(self._socket, "cipher") else None
        return getattr(self._socket, f"get{name}")() if self.is_connected else None

    def close(self) -> None:
        """Close the socket at once."""
        self.is_connected = False
        with contextlib.suppress(OSError):
            self._socket.close()

    # -- requests -----------------------------------------------------------------------------------

    def request(self, subject: str, data: bytes = b"", *, timeout: int = 0) -> Message:
        """Return one reply. `timeout` in ns. Raises NoResponders, RequestTimeout, Denied."""
        return self.request_message(OutgoingMessage(subject, data), timeout=timeout)

    def request_message(self, message: OutgoingMessage, *, timeout: int = 0) -> Message:
        """Send a request with headers, as `request` does; return the reply. `timeout` in ns."""
        timeout = timeout or self._settings.timeout
        return self.wait_for_reply(self.begin_request(message), time.monotonic() + timeout / SECOND, timeout)

    def begin_request(self, message: OutgoingMessage) -> Request:
        """Send a request; `wait_for_reply` returns its reply."""
        request = self.protocol.begin_request(message, lambda: None)
        self.send(request.frame)
        return request

    def wait_for_reply(self, request: Request, deadline: float, timeout: int) -> Message:
        """Return the reply to a request that `begin_request` sent; see `request`. deadline: on
        time.monotonic, `timeout` ns after the request."""
        try:
            while not request.is_ended:
                self.pump(deadline)
        except TimeoutError:
            pass
        finally:
            self.protocol.forget(request)
        return request.get_reply(timeout / SECOND)

    # -- reading and writing ------------------------------------------------------------------------

    def pump(self, deadline: float) -> None:
        """Read once, and handle the frames that are complete. `deadline`: seconds of time.monotonic.

        Raises TimeoutError at the deadline, and Denied for a subject that the server refuses; the connection
        stays usable.
        """
        self._read(deadline)
        self._raise_refusal()

    def _keep_refusal(self, refusal: Refused) -> None:
        self._refusal = refusal.error

    def _raise_refusal(self) -> None:
        if refusal := self._refusal:
            self._refusal = None
            raise refusal

    def _read(self, deadline: float) -> Sequence[Event]:
        if len(self._room) < self._chunk:
            self._room = bytearray(self._chunk)
        count = self._receive_into(self._room, deadline)
        return self._handle(self.protocol.receive(bytes(memoryview(self._room)[:count])))

    def _handle(self, events: Sequence[Event]) -> Sequence[Event]:
        """Send what follows from received bytes, and handle the events that came of them."""
        for event in events:
            if isinstance(event, Failed):
                self.is_connected = False
                raise event.error
        self._send_output()
        return events

    def _receive_into(self, room: bytearray | memoryview, deadline: float) -> int:
        """Read into a buffer; return how many bytes, 1 or more. Raises TimeoutError at the deadline."""
        seconds_left = loops.limit_deadline(deadline) - time.monotonic()
        if seconds_left <= 0:
            raise TimeoutError
        try:
            self._socket.settimeout(seconds_left)
            count = self._socket.recv_into(room)
        except TimeoutError:
            raise
        except OSError as error:
            self._end(error)
        if not count:
            self._end()
        if count == self._chunk:
            self._chunk = CHUNK
        self.received += count
        return count

    def _end(self, cause: OSError | None = None) -> NoReturn:
        """Raise the error of a lost connection."""
        self.is_connected = False
        error = cause or self.protocol.explain_end()
        is_ready = self.protocol.is_ready
        self.protocol.end()
        raise (ConnectionLost(str(error)) if is_ready else error) from None

    def send(self, data: bytes) -> None:
        """Send frames (see codec)."""
        self.protocol.output.append(data)
        self._send_output()

    def _send_output(self) -> None:
        if not self.is_connected:
            raise ConnectionLost("the connection was lost")
        if not (blocks := self.protocol.take_output()):
            return
        try:
            self._socket.settimeout(self._settings.timeout / SECOND)
            self._socket.sendall(b"".join(blocks) if len(blocks) > 1 else blocks[0])
        except OSError as error:
            self._read_last_words()
            self._end(error)

    def _read_last_words(self) -> None:
        """Raise the error that the server sent before it closed the connection."""
        with contextlib.suppress(OSError):
            self._socket.settimeout(0)
            for event in self.protocol.receive(self._socket.recv(FIRST_CHUNK)):
                if isinstance(event, Failed):
                    raise event.error
