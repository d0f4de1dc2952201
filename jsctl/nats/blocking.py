"""A NATS connection on a plain blocking socket, for Spark tasks.

nats-py hands over one message at a time, at a tenth of what a task can read. Here the answers to a direct get
are cut together, as `jsctl.spark.source.messages` says, and all else one by one.
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
from jsctl.jetstream.api import Api, Json
from jsctl.nats import login
from jsctl.nats.addresses import ServerAddress, parse_addresses
from jsctl.nats.failures import connection_failure
from jsctl.nats.tls import tls_options
from jsctl.spark.source.replies import TAIL, Reply
from jsctl.units import SECOND

CHUNK = 512 << 10
"""Bytes that are read at once, at the most."""

RUN, LONG = 16 << 10, 512 << 10
"""Bytes of answers to a direct get: from the one on they are cut together, and more than the other are not
waited for."""

PAUSE = 0.02
"""Seconds of silence after which what came is cut as it is."""

_OPERATION = re.compile(rb"(MSG|HMSG|INFO|PING|PONG|\+OK|-ERR)(?:[ \t]+([^\r\n]*))?\r\n")
_STATUS = b"\r\nNATS/1.0 "  #: a stored message's headers begin without the blank
_STATUS_SIZE = 256  #: more than what follows it, at the end of an answer
_TAIL = re.compile(
    rb"\r\nNats-Stream: ([^\r\n]*)\r\nNats-Subject: ([^\r]*)\r\n%b\r\n\Z"
    % b"".join(rb"%b([^\r]*)\r\n" % name for name in TAIL),
    re.DOTALL,
)


class Lost(Exception):
    """The connection ended; what was asked must be asked again on another one."""


class Wire:
    """One connection. Not for several threads. Every method raises Lost when the connection ends."""

    def __init__(self, link: socket.socket, info: Json, settings: Settings, rest: bytes) -> None:
        self._socket = link
        self._data = bytearray(rest)  #: its first `_filled` bytes came and are not handed out yet
        self._filled = len(rest)
        self._uncut = 0  #: how much of it came since the last cut
        self.received = 0  #: bytes until now
        self._settings = settings
        self._inbox = f"{settings.inbox_prefix}.{random.getrandbits(96):024x}"
        self._mark = b"\r\nHMSG %b." % self._inbox.encode()
        self._next = 0
        self._replies: dict[bytes, Reply] = {}
        self._delivered = Reply()
        self._ponged = False
        self.info = info
        self.watch("")

    @classmethod
    def open(cls, settings: Settings, name: str = "jsctl spark") -> "Wire":
        """Connect to any server that takes us. Raises Unreachable, Denied or BadInput within the
        settings' time-out a server."""
        settings = asyncio.run(login.prepare(settings))
        failures: list[JsctlError] = []
        servers = parse_addresses(settings.url)
        random.shuffle(servers)  # tasks spread over a cluster, and another attempt finds another server
        for server in servers:
            try:
                return cls._open(server, settings, name)
            except (OSError, ValueError, Lost, JsctlError) as error:
                failures.append(connection_failure(error, server, settings))
        raise next((f for f in failures if isinstance(f, Denied)), failures[-1])

    @classmethod
    def _open(cls, server: ServerAddress, settings: Settings, name: str) -> "Wire":
        if settings.socks_proxy or server.url.startswith("ws"):
            raise BadInput(
                "Spark reads over plain or TLS connections only", "use a nats:// or tls:// address"
            )
        parts = urlsplit(server.url)
        host, port = parts.hostname or "", parts.port or 4222
        tls = tls_options(settings, server)
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
        self._stream = stream.encode()
        self._middle = b"\r\nNats-Stream: %b\r\nNats-Subject: " % self._stream

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
        """Read what comes next and hand out what is complete in it. `deadline` is on time.monotonic; raises
        TimeoutError there."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        if len(self._data) < self._filled + CHUNK:
            self._data += bytes(len(self._data) + CHUNK)
        try:
            self._socket.settimeout(min(left, PAUSE) if self._uncut else left)
            with memoryview(self._data) as whole, whole[self._filled : self._filled + CHUNK] as room:
                count = self._socket.recv_into(room)
        except TimeoutError:
            if not self._uncut:
                raise
            self._cut()
            return
        except OSError as error:
            self._cut()
            raise Lost(str(error)) from None
        if not count:
            self._cut()
            raise Lost("the server closed the connection")
        self.received += count
        self._uncut += count
        self._filled += count
        # Runs of answers are cheaper to cut when they are long.
        if (
            self._uncut >= LONG
            or not self._data.startswith(self._mark[2:])
            or self._data.find(_STATUS, max(0, self._filled - _STATUS_SIZE), self._filled) >= 0
        ):
            self._cut()

    def _cut(self) -> None:
        """Hand out all complete operations that came; what is left over stays."""
        data, filled, at, one_by_one = self._data, self._filled, 0, 0
        ends = [filled]
        while (end := data.rfind(_STATUS, 0, ends[-1])) >= 0:  # backwards is the fast direction
            ends.append(end)
        while at < filled:
            end = at
            if at >= one_by_one and data.startswith(self._mark[2:], at):
                while ends[-1] < at:
                    ends.pop()
                # Until the last one, which may be incomplete, or is the end of the answer.
                run = data.rfind(self._mark, at, ends[-1])
                if run - at >= RUN:
                    end = self._cut_run(at, run)
                    one_by_one = run
            if end == at:
                end = self._cut_one(data, at)
            if end == at:
                break
            at = end
        data[: filled - at] = data[at:filled]
        self._filled, self._uncut = filled - at, 0

    def _cut_run(self, at: int, run: int) -> int:
        """Hand out the answers from `at` until `run`; returns where the next one starts, or `at` when there
        is something else among them."""
        from jsctl.spark.source import messages

        with memoryview(self._data) as whole, whole[at:run] as answers:
            found = messages.cut(answers, self._mark, self._middle)
        if found is None:
            return at
        for key, batch in found:
            if key in self._replies:
                self._replies[key].add(batch)
        return run + 2

    def _cut_one(self, data: bytearray, at: int) -> int:
        """Handle the operation at `at`, whatever it is. Returns where the next one starts, or `at` when it
        is not complete."""
        match = _OPERATION.match(data, at, self._filled)
        if match is None:
            if data.find(b"\r\n", at, self._filled) < 0:
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

    def _cut_message(self, data: bytearray, at: int, start: int, headed: bool, words: list[bytes]) -> int:
        total = int(words[-1])
        header_size = int(words[-2]) if headed else 0
        end = start + total
        if end + 2 > self._filled:
            return at
        header, payload = bytes(data[start : start + header_size]), bytes(data[start + header_size : end])
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
        reply.add_one((subject, tokens[begin], tokens[begin + 2], payload, header or None))
        reply.pending = int(tokens[begin + 3])

    def _take(self, reply: Reply, header: bytes, payload: bytes) -> None:
        # A stored header may imitate the server's: the last one counts.
        begin = header.rfind(b"\r\nNats-Stream: ")
        match = _TAIL.match(header, begin) if begin >= 0 else None
        if match:
            if match[1] != self._stream:
                reply.foreign = True
            reply.add_one((match[2], match[3], match[4], payload, header[:begin]))
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
