"""Servers that do harm: one that sends any bytes, and a man in the middle of a real one."""

import json
import random
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from typing import Any

from jsctl.nats.codec import FrameParser
from tests.support.listening import listening
from tests.support.relay import Relay

INFO = {"server_id": "X", "server_name": "x", "version": "2.15.1", "headers": True, "max_payload": 1 << 20}
PONG = b"PONG\r\n"

Change = Callable[[bytes, bytes], bytes | None]
"""Gets the subject and the payload of an answer, and returns the payload to deliver; None for silence."""


def info(**fields: Any) -> bytes:
    """Return an INFO line."""
    return b"INFO %b\r\n" % json.dumps({**INFO, **fields}).encode()


@contextmanager
def hostile_server(hello: bytes = info(), *, pong: bytes = PONG, then: bytes = b"") -> Iterator[str]:
    """Run a server that sends `hello`, `pong` to the first PING and PONG to others, and `then` to the first
    PUB; yield its URL.

    `{reply}` and `{sid}` in `then` are the reply subject of the request and the last subscription. It ends a
    connection when the client does, or 3 s after `then`.
    """
    listener = socket.create_server(("127.0.0.1", 0))

    def serve(client: socket.socket) -> None:
        with client, suppress(OSError):
            client.settimeout(3)
            client.sendall(hello)
            seen, greeted = b"", 0
            while data := client.recv(65536):
                seen += data
                while greeted < seen.count(b"PING\r\n"):
                    client.sendall(PONG if greeted else pong)
                    greeted += 1
                publish = next(
                    (line for line in seen.split(b"\r\n") if line.startswith((b"PUB", b"HPUB"))), b""
                )
                if publish and then:
                    words = publish.split()
                    sid = [line for line in seen.split(b"\r\n") if line.startswith(b"SUB")][-1].split()[-1]
                    client.sendall(then.replace(b"{reply}", words[2]).replace(b"{sid}", sid))
                    while client.recv(65536):
                        pass
                    return

    with listening(listener, serve):
        yield f"nats://127.0.0.1:{listener.getsockname()[1]}"


class Middleman(Relay):
    """A relay that can change answers, and hand over or stop at any byte. Set these between connections.

    change: what to do with each payload from the server. cut: bytes from the server after which each
    connection ends, -1 for never. drip: bytes that are handed over at once, 0 for all. pause: seconds after
    each of these, except for the first `unhindered` bytes of a connection.
    """

    change: Change | None = None
    cut_at = -1
    drip = 0
    pause = 0.0
    unhindered = 0
    account_url = ""
    system_url = ""

    def _pump(self, source: socket.socket, target: socket.socket, up: bool) -> None:
        if up:
            super()._pump(source, target, up)
            return
        sent, parser = 0, FrameParser()
        with suppress(OSError):
            while data := source.recv(1 << 16):
                data = self._changed(parser, data) if self.change else data
                if self.cut_at >= 0:
                    data = data[: self.cut_at - sent]
                step = self.drip or len(data) or 1
                for at in range(0, len(data), step):
                    target.sendall(data[at : at + step])
                    if self.drip:
                        time.sleep(self.pause if sent + at >= self.unhindered else 0)
                sent += len(data)
                if 0 <= self.cut_at <= sent:
                    break
        for one in (source, target):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def _changed(self, parser: FrameParser, data: bytes) -> bytes:
        out = b""
        for _, sid, subject, reply, headers, original in parser.feed(data):
            if not sid:
                out += original
                continue
            assert self.change
            payload = self.change(subject, original)
            if payload is None:
                continue
            where = b" ".join(part for part in (subject, sid, reply) if part)
            if headers:
                sizes = len(headers), len(headers) + len(payload)
                out += b"HMSG %b %d %d\r\n%b%b\r\n" % (where, *sizes, headers, payload)
            else:
                out += b"MSG %b %d\r\n%b\r\n" % (where, len(payload), payload)
        return out


@contextmanager
def middleman(target: int) -> Iterator[Middleman]:
    """Run a man in the middle of connections to the server at the port `target`."""
    listener = socket.create_server(("127.0.0.1", 0))
    middleman = Middleman(listener, 0)
    with listening(listener, lambda client: middleman.serve(client, target)):
        try:
            yield middleman
        finally:
            middleman.stop()
            middleman.cut()


_VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1 << 63,
    10**30,
    1.5,
    1e400,
    "",
    "x",
    "2026-13-45T99:99:99Z",
    "\x1b[2J",
    "\ud800",
    [],
    [None],
    [1, "a"],
    [{}],
    {},
    {"a": {}},
    {"name": 5},
)

_PIECES = (b"-1", b"9" * 20, b"\r\n", b"\0", b"\xff", b"{{", b"[" * 50)


def mutate_json(value: Any, chance: random.Random) -> Any:
    """Return a copy with one to three places changed: another type, removed, repeated, or moved."""
    copy = json.loads(json.dumps(value))
    for _ in range(chance.randint(1, 3)):
        places = list(_places(copy))
        if not places:
            return deepcopy(chance.choice(_VALUES))
        container, key = chance.choice(places)
        match chance.randrange(6):
            case 0:
                del container[key]
            case 1 if isinstance(container, dict):
                container[key + "x"] = container.pop(key)
            case 2 if isinstance(container[key], list):
                container[key] = container[key] * 3
            case _:
                container[key] = deepcopy(chance.choice(_VALUES))
    return copy


def mutate_bytes(data: bytes, chance: random.Random) -> bytes:
    """Return a copy with some bytes changed, removed, repeated, or cut off."""
    raw = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(raw) + 1)
        match chance.randrange(5):
            case 0:
                raw[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                del raw[at : at + chance.randint(1, 8)]
            case 2:
                raw[at:at] = raw[at : at + 16]
            case 3:
                raw[at:at] = chance.choice(
                    (b"-1", b"99999999999999999999", b"\r\n", b"\0", b"\xff", b"{{", b"[" * 50)
                )
            case 4:
                del raw[at + len(raw) // 2 :]
    return bytes(raw)


def mutate_answer(payload: bytes, chance: random.Random) -> bytes:
    """Return a changed answer: mostly JSON of another shape, sometimes not JSON, sometimes deeply nested."""
    kind = chance.randrange(10)
    if kind == 0:
        return mutate_bytes(payload, chance)
    if kind == 1:
        return b"[" * 3000 + b"]" * 3000
    try:
        return json.dumps(mutate_json(json.loads(payload), chance)).encode()
    except ValueError:
        return mutate_bytes(payload, chance)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container in a JSON value with each of its keys or indexes."""
    for key in (
        list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    ):
        yield value, key
        yield from _places(value[key])


@contextmanager
def cutting_server(hello: bytes, pong: bytes) -> Iterator[str]:
    """Run a server that hangs up after `hello`, or after `pong` unless it is empty; yield its URL."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve(client: socket.socket) -> None:
        with client, suppress(OSError):
            client.settimeout(3)
            client.sendall(hello)
            seen = b""
            while pong and b"PING\r\n" not in seen and (data := client.recv(65536)):
                seen += data
            client.sendall(pong)
            client.shutdown(socket.SHUT_WR)

    with listening(listener, serve):
        yield f"nats://127.0.0.1:{listener.getsockname()[1]}"


@contextmanager
def serving(serve: Callable[[socket.socket], None]) -> Iterator[str]:
    """Run a server that calls `serve` for each connection, which ends with an OSError or a return; yield its
    URL."""
    listener = socket.create_server(("127.0.0.1", 0))

    def one(client: socket.socket) -> None:
        with client, suppress(OSError):
            serve(client)

    with listening(listener, one):
        yield f"nats://127.0.0.1:{listener.getsockname()[1]}"


def log_in(client: socket.socket) -> bytes:
    """Let a client log in; return what it sent."""
    client.sendall(info())
    seen = b""
    while b"PING\r\n" not in seen:
        if not (data := client.recv(65536)):
            raise OSError
        seen += data
    client.sendall(PONG)
    return seen


def answer_without_end(payload: bytes) -> Callable[[socket.socket], None]:
    """Return a `serve` that repeats one reply to the first request, as fast as it is taken."""

    def serve(client: socket.socket) -> None:
        seen = log_in(client)
        while not (words := _request(seen)):
            if not (data := client.recv(65536)):
                return
            seen += data
            client.sendall(b"PONG\r\n" * data.count(b"PING\r\n"))
        sid = [line for line in seen.split(b"\r\n") if line.startswith(b"SUB")][-1].split()[-1]
        frame = b"MSG %b %b %d\r\n%b\r\n" % (words[2], sid, len(payload), payload)
        while True:
            client.sendall(frame * max(1, 65536 // len(frame)))

    return serve


def _request(sent: bytes) -> list[bytes]:
    """Return the words of the first line with which a client published with a reply subject."""
    lines = (line.split() for line in sent.split(b"\r\n") if line.startswith((b"PUB ", b"HPUB ")))
    return next((words for words in lines if len(words) == 3 + len(words[0]) - 2), [])
