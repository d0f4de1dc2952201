"""A connection on a blocking socket, for code that runs without an event loop, such as Spark's tasks.

It shares the codec, the login and the errors with `connection`. A subclass may parse many messages at once
(see jsctl.spark.source.connection).
"""

import base64
import contextlib
import json
import os
import socket
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self, cast
from urllib.parse import urlsplit

from jsctl.base import loops
from jsctl.base.json_text import parse_json
from jsctl.base.units import SECOND
from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput, Denied, JsctlError, NoResponders, RequestTimeout, Unreachable
from jsctl.nats import login
from jsctl.nats.addresses import ServerAddress, divide_timeout, parse_addresses
from jsctl.nats.codec import (
    MAX_LINE,
    MAX_PAYLOAD,
    ProtocolError,
    Violation,
    compute_message_limit,
    parse_error,
    read_frame,
)
from jsctl.nats.events import denied_error
from jsctl.nats.failures import NoGreeting, NoTls, choose_most_telling, connection_error
from jsctl.nats.message import Message, MessageHandler, OutgoingMessage, decode_message, is_no_responders
from jsctl.nats.server_info import check_info
from jsctl.nats.tls import build_tls_options

CHUNK, FIRST_CHUNK = 512 << 10, 64 << 10
"""Maximum number of bytes that are read at once, and until a read fills it: a large buffer takes half a
millisecond to make."""

Json = dict[str, Any]


class ConnectionLost(Exception):
    """The connection ended; its requests must be sent again on another one."""


class EndedByServer(ConnectionLost):
    """The server ended the connection with an error: it may do so again."""


class Request(NamedTuple):
    """A request that was sent, with its replies so far. timeout: ns. deadline: on time.monotonic."""

    key: bytes
    subject: str
    replies: list[Message]
    timeout: int
    deadline: float


class BlockingConnection:
    """One connection, for use by one thread. Every method raises ConnectionLost when it ends.

    received: number of bytes so far. is_lost: whether it ended. info: the server's. address: its own.
    """

    address = ServerAddress("")

    def __init__(self, link: socket.socket, info: Json, settings: Settings, unparsed: bytes) -> None:
        self._socket = link
        self._buffer = bytearray(unparsed)  #: its first `_filled` bytes are received and not parsed yet
        self._filled = len(unparsed)
        self._chunk = min(FIRST_CHUNK, CHUNK)
        self._settings = settings
        self._inbox = self.new_inbox()
        self._number = 0
        self._handlers: dict[bytes, MessageHandler] = {}  #: by the last token of the reply subject
        self._refused_inbox: JsctlError | None = None  #: why no replies arrive
        self._refusals: list[Violation] = []
        self._is_logged_in = False
        self._is_ready = False  #: whether a ping was answered
        self.is_lost = False
        self._largest = compute_message_limit(info.get("max_payload", MAX_PAYLOAD))
        self.received = 0
        self.info = info

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
                connection = cls._open(address, settings, name, seconds)
                connection.address = address
                return connection
            except (OSError, ValueError, ConnectionLost, JsctlError) as error:
                failures.append(connection_error(error, address, settings))
        raise choose_most_telling([*failures[len(addresses) :], *failures[: len(addresses)]], settings)

    def other_addresses(self) -> list[ServerAddress]:
        """Return the other servers that this one names in its INFO; they accept the same login."""
        scheme, _, rest = self.address.url.partition("://")
        # A certificate holds host names, and servers often announce IP addresses.
        own_name = self.address.tls_name or urlsplit(f"//{rest}").hostname or ""
        return [
            self.address._replace(url=f"{scheme}://{address}", tls_name=own_name)
            for address in self.info.get("connect_urls") or []
            if isinstance(address, str)
        ]

    @classmethod
    def _open(cls, address: ServerAddress, settings: Settings, name: str, seconds: float) -> Self:
        if settings.socks_proxy or address.url.startswith("ws"):
            raise BadInput(
                "Spark reads over plain or TLS connections only", "use a nats:// or tls:// address"
            )
        deadline = time.monotonic() + seconds
        parts = urlsplit(address.url)
        host, port = parts.hostname or "", parts.port or 4222
        tls_name = address.tls_name if address.tls_name and not host.strip("0123456789.") else host
        tls = build_tls_options(settings, address)
        is_first = bool(tls.get("tls_handshake_first"))
        # Text would be encoded with IDNA, whose tables take a millisecond to import.
        target: Any = host.encode() if host.isascii() else host
        link: socket.socket = socket.create_connection((target, port), seconds)
        try:
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if is_first:
                link = tls["tls"].wrap_socket(link, server_hostname=tls_name)
            line, unparsed = _read_line(link, deadline)
            if line.startswith(b"-ERR"):
                raise ConnectionLost(parse_error(line).text)
            if not line.startswith(b"INFO "):
                raise Unreachable(f"{address.url} is not a NATS server")
            info: Json = parse_json(line[5:])
            check_info(info)
            if not is_first and (tls or info.get("tls_required")):
                if not (info.get("tls_required") or info.get("tls_available")):
                    raise NoTls("the server has no TLS")
                from ssl import create_default_context

                context = tls.get("tls") or create_default_context()
                link = context.wrap_socket(link, server_hostname=tls_name)
                unparsed = b""
            self = cls(link, info, settings, unparsed)
            self._log_in(loops.run(login.build_authentication(settings, address)), name, deadline)
        except BaseException:
            link.close()
            raise
        return self

    def _log_in(self, options: Mapping[str, Any], name: str, deadline: float) -> None:
        hello: Json = {"verbose": False, "pedantic": False, "lang": "python-jsctl", "version": "1"}
        hello |= {"protocol": 1, "headers": True, "no_responders": True, "echo": False, "name": name}
        nonce = self.info.get("nonce", "")
        if seed := options.get("nkeys_seed_str"):
            pair = login.parse_seed(seed)
            hello["nkey"] = pair.public_key.decode()
            hello["sig"] = base64.b64encode(pair.sign(nonce.encode())).decode()
        if jwt := options.get("user_jwt_cb"):
            hello["jwt"] = jwt().decode()
            hello["sig"] = options["signature_cb"](nonce).decode()
        for option, key in (("user", "user"), ("password", "pass"), ("token", "auth_token")):
            if options.get(option):
                hello[key] = options[option]
        subscribe = b"SUB %b.* 1\r\n" % self._inbox.encode()
        self._ping(b"CONNECT %b\r\n%b" % (json.dumps(hello).encode(), subscribe), deadline)
        self._is_logged_in = True
        for violation in self._refusals:  # a login may be allowed to publish and nothing else
            self._refused_inbox = denied_error(*violation, self._settings.inbox_prefix)
        self._refusals.clear()

    def _ping(self, frames: bytes, deadline: float) -> None:
        """Send frames, and wait until the server has processed them. Raises TimeoutError."""
        self._is_ready = False
        self.send(frames + b"PING\r\n")
        while not self._is_ready:
            self.pump(deadline)

    def flush(self, timeout: int = 0) -> None:
        """Wait until the server has processed what was sent. `timeout` in ns. Raises Denied, TimeoutError."""
        self._ping(b"", time.monotonic() + (timeout or self._settings.timeout) / SECOND)

    def socket_info(self, name: str) -> Any:
        """Return `peername`, `sockname` or `ssl_object`, as asyncio does, or None."""
        if name == "ssl_object":
            return self._socket if hasattr(self._socket, "cipher") else None
        return None if self.is_lost else getattr(self._socket, f"get{name}")()

    def new_inbox(self) -> str:
        """Return a new subject below the inbox prefix."""
        return f"{self._settings.inbox_prefix}.{os.urandom(12).hex()}"

    def close(self) -> None:
        """Close the socket at once."""
        self.is_lost = True
        with contextlib.suppress(OSError):
            self._socket.close()

    # -- requests -----------------------------------------------------------------------------------

    def send_request(self, subject: str, data: bytes, handler: MessageHandler) -> bytes:
        """Publish a request; `handler` is called with its replies while `pump` runs. Returns the key for
        `forget`."""
        key = self._publish_request(OutgoingMessage(subject, data))
        self._handlers[key] = handler
        return key

    def forget(self, key: bytes) -> None:
        """Drop the replies to a request that are still to come."""
        self._handlers.pop(key, None)

    def request(self, subject: str, data: bytes = b"", *, timeout: int = 0) -> Message:
        """Return one reply. `timeout` in ns. Raises NoResponders, RequestTimeout, Denied."""
        return self.request_message(OutgoingMessage(subject, data), timeout=timeout)

    def request_message(self, message: OutgoingMessage, *, timeout: int = 0) -> Message:
        """Send a request with headers, as `request` does; return the reply."""
        return self.wait_for_reply(self.begin_request(message, timeout))

    def begin_request(self, message: OutgoingMessage, timeout: int = 0) -> Request:
        """Send a request; `wait_for_reply` returns its reply."""
        replies: list[Message] = []
        timeout = timeout or self._settings.timeout
        key = self._publish_request(message)
        self._handlers[key] = replies.append
        return Request(key, message.subject, replies, timeout, time.monotonic() + timeout / SECOND)

    def wait_for_reply(self, request: Request) -> Message:
        """Return the reply to a request that `begin_request` sent; see `request`."""
        replies = request.replies
        try:
            while not replies:
                self.pump(request.deadline)
        except TimeoutError:
            raise RequestTimeout(f"no answer on {request.subject} in {request.timeout / SECOND:g}s") from None
        finally:
            self.forget(request.key)
        if is_no_responders(replies[0]):
            raise NoResponders(f"nobody answers on {request.subject}")
        return replies[0]

    def _publish_request(self, message: OutgoingMessage) -> bytes:
        if self._refused_inbox:
            raise self._refused_inbox
        self._number += 1
        self.send(message.encode(f"{self._inbox}.{self._number}"))
        return b"%d" % self._number

    # -- reading ------------------------------------------------------------------------------------

    def pump(self, deadline: float) -> None:
        """Read once, and handle the frames that are complete. `deadline` is on time.monotonic.

        Raises TimeoutError at the deadline.
        """
        seconds_left = loops.limit_deadline(deadline) - time.monotonic()
        if seconds_left <= 0:
            raise TimeoutError
        self._receive(seconds_left)
        self._parse()
        self._check_refusals()

    def _check_refusals(self) -> None:
        """Raise Denied for what the server refused; the connection stays usable."""
        if self._refusals and self._is_logged_in:
            operation, subject = self._refusals[0]
            self._refusals.clear()
            raise denied_error(operation, subject, self._settings.inbox_prefix)

    def _receive(self, timeout: float) -> int:
        """Read up to CHUNK bytes into the buffer, within `timeout` seconds; return how many."""
        if len(self._buffer) < self._filled + self._chunk:
            self._buffer += bytes(len(self._buffer) + self._chunk)
        reason = "the server closed the connection"
        try:
            self._socket.settimeout(timeout)
            with memoryview(self._buffer) as view, view[self._filled : self._filled + self._chunk] as room:
                count = self._socket.recv_into(room)
        except TimeoutError:
            raise
        except OSError as error:
            count, reason = 0, str(error)
        if not count:
            self.is_lost = True
            self._parse()
            raise ConnectionLost(reason)
        if count == self._chunk:
            self._chunk = CHUNK
        self.received += count
        self._filled += count
        return count

    def _parse(self) -> None:
        """Handle all complete frames in the buffer; an incomplete one stays."""
        at = 0
        while at < self._filled and (end := self._parse_frame(at)) > at:
            at = end
        self._drop(at)

    def _drop(self, count: int) -> None:
        """Remove `count` parsed bytes from the buffer's beginning."""
        if count:  # a large frame is parsed only when all of it has arrived
            self._buffer[: self._filled - count] = self._buffer[count : self._filled]
            self._filled -= count

    def _parse_frame(self, at: int) -> int:
        """Handle the frame at `at`. Returns where the next one starts, or `at` when it is not complete."""
        buffer = cast(bytes, self._buffer)  # a bytearray, whose parts become bytes below
        end, sid, subject, reply, header_block, data = read_frame(buffer, at, self._filled, self._largest)
        if end > self._filled:
            return at
        if sid:
            self._dispatch(bytes(subject), bytes(reply), bytes(header_block), bytes(data))
        else:
            self._handle_control_line(bytes(data))
        return end

    def _dispatch(self, subject: bytes, reply: bytes, header_block: bytes, data: bytes) -> None:
        handler = self._handlers.get(subject.rpartition(b".")[2])
        if handler is not None:
            handler(decode_message(subject, reply, header_block, data))

    def _handle_control_line(self, line: bytes) -> None:
        if line.startswith(b"PING"):
            self.send(b"PONG\r\n")
        elif line.startswith(b"PONG"):
            self._is_ready = True
        elif line.startswith(b"-ERR"):
            error = parse_error(line)
            if error.violation:
                self._refusals.append(error.violation)
                return
            if not self._is_logged_in:
                raise ConnectionLost(error.text)  # `connection_error` knows what it means
            if error.is_authentication:
                raise Denied(f"the server refuses the login: {error.text.lower()}")
            raise EndedByServer(f"the server ended the connection: {error.text.lower()}")
        elif line.startswith(b"INFO "):
            self._update_info(line[5:])
        elif not line.startswith((b"INFO", b"+OK")):
            raise ProtocolError("it sent an unknown line")

    def _update_info(self, text: bytes) -> None:
        try:
            info = parse_json(text)
        except ValueError:
            raise ProtocolError("its INFO is not JSON") from None
        check_info(info)
        self.info = {**self.info, **info}

    def send(self, data: bytes) -> None:
        """Send frames (see codec)."""
        try:
            self._socket.settimeout(self._settings.timeout / SECOND)
            self._socket.sendall(data)
        except OSError as error:
            self.is_lost = True
            raise ConnectionLost(str(error)) from None


def _read_line(link: socket.socket, deadline: float) -> tuple[bytes, bytes]:
    """Read a server's first line; return it and the bytes received after it. `deadline` is on time.monotonic.

    Raises TimeoutError at the deadline, NoGreeting when the server closes the connection.
    """
    data = b""
    while b"\r\n" not in data:
        seconds_left = deadline - time.monotonic()
        if seconds_left <= 0:
            raise TimeoutError
        link.settimeout(seconds_left)
        chunk = link.recv(65536)
        if not chunk or len(data) > MAX_LINE:
            raise NoGreeting("the server closed the connection without a reason")
        data += chunk
    line, _, rest = data.partition(b"\r\n")
    return line, rest
