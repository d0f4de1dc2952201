"""A NATS connection on a plain blocking socket, for Spark tasks.

nats-py hands over one message at a time, at a tenth of what a task can read. Here a chunk of bytes is cut
into replies in one loop, and a reply that holds nothing unusual in one match of a regular expression.
"""

import asyncio
import contextlib
import json
import random
import re
import socket
import ssl
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from jsctl.contexts.settings import Settings
from jsctl.errors import ApiError, BadInput, Denied, JsctlError, NoResponders, RequestTimeout, Unreachable
from jsctl.jetstream import login
from jsctl.jetstream.api import Api, Json
from jsctl.units import SECOND

CHUNK = 1 << 20

_OPERATION = re.compile(rb"(MSG|HMSG|INFO|PING|PONG|\+OK|-ERR)(?:[ \t]+([^\r\n]*))?\r\n")

_TAIL = (
    rb"Nats-Subject: ([^\r]*)\r\nNats-Sequence: ([^\r]*)\r\nNats-Time-Stamp: ([^\r]*)\r\n"
    rb"Nats-Num-Pending: [^\r]*\r\nNats-Last-Sequence: [^\r]*\r\n\r\n"
)
"""How the server ends the headers of a batch direct get's reply, after `Nats-Stream` (server/stream.go)."""


class Lost(Exception):
    """The connection ended; what was asked must be asked again on another one."""


class Reply:
    """What came back to one request.

    rows: (subject, sequence, time) of each message, as bytes; payloads beside it. headers: those of the
    messages that have some of their own, by row. status: 204, 404, ...; 0 until the end. foreign: another
    stream (a mirror) answered. message: the last (headers, payload) that was no stream message.
    """

    __slots__ = ("description", "foreign", "headers", "message", "payloads", "pending", "rows", "status")

    def __init__(self) -> None:
        self.rows: list[tuple[bytes, bytes, bytes]] = []
        self.payloads: list[bytes] = []
        self.headers: dict[int, bytes] = {}
        self.status = 0
        self.description = ""
        self.pending = 0
        self.foreign = False
        self.message: tuple[bytes, bytes] | None = None


class Wire:
    """One connection. Not for several threads. Every method raises Lost when the connection ends."""

    def __init__(self, link: socket.socket, info: Json, settings: Settings, rest: bytes) -> None:
        self._socket = link
        self._rest = rest
        self._settings = settings
        self._inbox = f"{settings.inbox_prefix}.{random.getrandbits(96):024x}"
        self._next = 0
        self._replies: dict[bytes, Reply] = {}
        self._delivered = Reply()
        self._ponged = False
        self._fast = re.compile(b"(?!)").match
        self._tail = re.compile(b"(?!)").match
        self.info = info
        self.watch("")

    @classmethod
    def open(cls, settings: Settings, name: str = "jsctl spark") -> "Wire":
        """Connect to any server that takes us. Raises Unreachable, Denied or BadInput within the
        settings' time-out a server."""
        settings = asyncio.run(login.prepare(settings))
        failures: list[JsctlError] = []
        servers = login.servers(settings.url)
        random.shuffle(servers)  # tasks spread over a cluster, and another attempt finds another server
        for server in servers:
            try:
                return cls._open(server, settings, name)
            except (OSError, ValueError, Lost, JsctlError) as error:
                failures.append(login.failure(error, server, settings))
        raise next((f for f in failures if isinstance(f, Denied)), failures[-1])

    @classmethod
    def _open(cls, server: login.Server, settings: Settings, name: str) -> "Wire":
        if settings.socks_proxy or server.url.startswith("ws"):
            raise BadInput(
                "Spark reads over plain or TLS connections only", "use a nats:// or tls:// address"
            )
        parts = urlsplit(server.url)
        host, port = parts.hostname or "", parts.port or 4222
        tls = login.tls(settings, server)
        link: socket.socket = socket.create_connection((host, port), settings.timeout / SECOND)
        try:
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if tls.get("tls_handshake_first"):
                link = tls["tls"].wrap_socket(link, server_hostname=host)
            line, rest = _line(link)
            if not line.startswith(b"INFO "):
                raise Unreachable(f"{server.url} is no NATS server")
            info: Json = json.loads(line[5:])
            if not isinstance(link, ssl.SSLSocket) and (tls or info.get("tls_required")):
                context = tls.get("tls") or ssl.create_default_context()
                link = context.wrap_socket(link, server_hostname=host)
                rest = b""
            self = cls(link, info, settings, rest)
            self._log_in(asyncio.run(login.authentication(settings, server)), name)
        except BaseException:
            link.close()
            raise
        return self

    def _log_in(self, options: Mapping[str, Any], name: str) -> None:
        hello: Json = {
            "verbose": False, "pedantic": False, "lang": "python-jsctl", "version": "1", "protocol": 1,
            "headers": True, "no_responders": True, "echo": False, "name": name,
        }  # fmt: skip
        nonce = self.info.get("nonce", "")
        if seed := options.get("nkeys_seed_str"):
            import base64

            pair = login.key(seed)
            hello["nkey"] = pair.public_key.decode()
            hello["sig"] = base64.b64encode(pair.sign(nonce.encode())).decode()
        if jwt := options.get("user_jwt_cb"):
            hello["jwt"] = jwt().decode()
            hello["sig"] = options["signature_cb"](nonce).decode()
        for ours, theirs in (("user", "user"), ("password", "pass"), ("token", "auth_token")):
            if options.get(ours):
                hello[theirs] = options[ours]
        self._send(
            b"CONNECT %b\r\nSUB %b.* 1\r\nPING\r\n" % (json.dumps(hello).encode(), self._inbox.encode())
        )
        deadline = time.monotonic() + self._settings.timeout / SECOND
        while not self._ponged:
            self.pump(deadline)

    def watch(self, stream: str) -> None:
        """Name the stream whose direct gets are read from now on."""
        name = re.escape(stream.encode())
        self._fast = re.compile(
            rb"HMSG %b\.(\d+) 1 (\d+) (\d+)\r\nNATS/1\.0\r\nNats-Stream: %b\r\n%b"
            % (re.escape(self._inbox.encode()), name, _TAIL)
        ).match
        self._tail = re.compile(rb"\r\nNats-Stream: ([^\r\n]*)\r\n%b\Z" % _TAIL, re.DOTALL).match
        self._stream = stream.encode()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.close()

    # -- asking -------------------------------------------------------------------------------------

    def ask(self, subject: str, body: bytes) -> tuple[bytes, Reply]:
        """Publish a request; its reply fills while `pump` runs. Returns the key for `forget`, and it."""
        self._next += 1
        key = b"%d" % self._next
        reply = self._replies[key] = Reply()
        inbox = f"{self._inbox}.{self._next}"
        self._send(f"PUB {subject} {inbox} {len(body)}\r\n".encode() + body + b"\r\n")
        return key, reply

    def deliver(self) -> Reply:
        """Where messages of a consumer go from now on: they carry no sign of the request."""
        self._delivered = Reply()
        return self._delivered

    def forget(self, key: bytes) -> None:
        """Drop what still comes for a request."""
        self._replies.pop(key, None)

    def call(self, subject: str, body: Json | None = None, timeout: int = 0) -> Json:
        """A JetStream API request. `timeout` in ns. Raises ApiError, Unreachable, Denied."""
        key, reply = self.ask(subject, json.dumps(body).encode() if body else b"")
        deadline = time.monotonic() + (timeout or self._settings.timeout) / SECOND
        try:
            while not reply.status and reply.message is None:
                self.pump(deadline)
        except TimeoutError:
            raise RequestTimeout(f"no answer on {subject}") from None
        finally:
            self.forget(key)
        if reply.message is None:
            raise NoResponders(f"nobody answers on {subject}")
        try:
            return Api.parse(reply.message[1], subject)
        except ApiError as error:
            if error.code == 503:  # no leader yet, for one
                raise Unreachable(error.message, error.hint) from None
            raise

    def pump(self, deadline: float) -> None:
        """Read one chunk and hand out what is complete in it. `deadline` is on time.monotonic; raises
        TimeoutError there."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        try:
            self._socket.settimeout(left)
            chunk = self._socket.recv(CHUNK)
        except TimeoutError:
            raise
        except OSError as error:
            raise Lost(str(error)) from None
        if not chunk:
            raise Lost("the server closed the connection")
        self._rest = self._cut(self._rest + chunk if self._rest else chunk)

    def _cut(self, data: bytes) -> bytes:
        """Hand out all complete operations in `data`; returns what is left over."""
        # The loop that all speed depends on: a message costs about 2 µs.
        fast, at, size = self._fast, 0, len(data) - 2
        current, reply = b"", Reply()
        while at < size:
            match = fast(data, at)
            if match is not None:
                key, header_size, total, subject, sequence, moment = match.groups()
                headers, start = int(header_size), match.end()
                end = start - headers + int(total)
                # Where the sizes differ, what looks like the end of the headers is a stored one.
                if start - match.end(3) - 2 == headers:
                    if end > size:
                        break
                    if key != current:
                        current, reply = key, self._replies.get(key) or Reply()
                    reply.rows.append((subject, sequence, moment))
                    reply.payloads.append(data[start:end])
                    at = end + 2
                    continue
            end = self._cut_one(data, at)
            if end == at:
                break
            at = end
        return data[at:]

    def _cut_one(self, data: bytes, at: int) -> int:
        """Handle the operation at `at`, whatever it is. Returns where the next one starts, or `at` when it
        is not complete."""
        match = _OPERATION.match(data, at)
        if match is None:
            if data.find(b"\r\n", at) < 0:
                return at
            raise Lost("the server said something that is no NATS")
        name, rest = match[1], match[2] or b""
        if name in (b"MSG", b"HMSG"):
            return self._cut_message(data, at, match.end(), name == b"HMSG", rest.split())
        if name == b"PING":
            self._send(b"PONG\r\n")
        elif name == b"PONG":
            self._ponged = True
        elif name == b"-ERR":
            self._complain(rest.strip(b"' ").decode(errors="replace"))
        return match.end()

    def _cut_message(self, data: bytes, at: int, start: int, headed: bool, words: list[bytes]) -> int:
        total = int(words[-1])
        header_size = int(words[-2]) if headed else 0
        end = start + total
        if end + 2 > len(data):
            return at
        header, payload = data[start : start + header_size], data[start + header_size : end]
        if len(words) == 4 + headed:  # with a reply subject: a consumer's
            self._take_delivered(words[0], words[2], header, payload)
        elif (reply := self._replies.get(words[0].rpartition(b".")[2])) is not None:
            self._take(reply, header, payload)
        return end + 2

    def _take_delivered(self, subject: bytes, ack: bytes, header: bytes, payload: bytes) -> None:
        tokens = ack.split(b".")
        if tokens[:2] != [b"$JS", b"ACK"] or len(tokens) < 9:
            return
        begin = 5 if len(tokens) == 9 else 7  # ADR-15: with domain and account since 2.10
        reply = self._delivered
        if header:
            reply.headers[len(reply.rows)] = header
        reply.rows.append((subject, tokens[begin], tokens[begin + 2]))
        reply.payloads.append(payload)
        reply.pending = int(tokens[begin + 3])

    def _take(self, reply: Reply, header: bytes, payload: bytes) -> None:
        # A stored header may imitate the server's: the last one counts.
        begin = header.rfind(b"\r\nNats-Stream: ")
        match = self._tail(header, begin) if begin >= 0 else None
        if match:
            if match[1] != self._stream:
                reply.foreign = True
            if begin > len(b"NATS/1.0"):
                reply.headers[len(reply.rows)] = header[: begin + 2]
            reply.rows.append((match[2], match[3], match[4]))
            reply.payloads.append(payload)
        elif header.startswith(b"NATS/1.0 ") and not payload:
            words = header[9:].split(b"\r\n", 1)[0].split(b" ", 1)
            reply.status = int(words[0])
            reply.description = words[-1].decode(errors="replace")
            pending = re.search(rb"\r\nNats-Num-Pending: (\d+)", header)
            reply.pending = int(pending[1]) if pending else 0
        else:
            reply.message = (header, payload)

    def _complain(self, error: str) -> None:
        text = error.lower()
        if "permissions violation" in text:
            raise Denied(f"the server refuses: {error}")
        if "authorization" in text or "authentication" in text:
            raise Denied(f"the server refuses the login: {text}")
        raise Lost(f"the server ended the connection: {text}")

    def _send(self, data: bytes) -> None:
        try:
            self._socket.settimeout(self._settings.timeout / SECOND)
            self._socket.sendall(data)
        except OSError as error:
            raise Lost(str(error)) from None


def _line(link: socket.socket) -> tuple[bytes, bytes]:
    """The first line that a server says, and what came with it."""
    data = b""
    while b"\r\n" not in data:
        chunk = link.recv(65536)
        if not chunk or len(data) > CHUNK:
            raise Lost("the server closed the connection without a word")
        data += chunk
    line, _, rest = data.partition(b"\r\n")
    return line, rest
