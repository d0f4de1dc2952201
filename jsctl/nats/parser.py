"""The protocol's messages, cut out of what a socket said and handed to their takers.

In place of nats-py's parser, which matches regular expressions and moves its buffer at each message: 0.30 s
of processor time for 100,000 messages, this one 0.12 s. Everything but messages still goes to nats-py's.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

Taker = Callable[[bytes, bytes, bytes, bytes], None]
"""Called with subject, reply, header block (empty for none) and data of a message; must not raise."""

_M, _H = ord("M"), ord("H")


class _Client(Protocol):
    takers: dict[bytes, Taker]

    def _process_msg(
        self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: Any
    ) -> Awaitable[None]: ...


class _Plain(Protocol):
    def parse(self, data: bytes) -> Awaitable[None]: ...

    def reset(self) -> None: ...


class Parser:
    """What nats-py asks of a parser: `parse` for each chunk, `reset` for a new connection."""

    def __init__(self, client: _Client, plain: _Plain) -> None:
        self._client = client
        self._plain = plain
        self._chunks: list[bytes] = []
        self._have = 0
        self._need = 0  #: bytes of which nothing can be cut before they are there
        self._resets = 0

    def reset(self) -> None:
        self._chunks, self._have, self._need = [], 0, 0
        self._resets += 1
        self._plain.reset()

    async def parse(self, data: bytes) -> None:
        self._chunks.append(data)
        self._have += len(data)
        if self._have < self._need:
            return  # a large payload is put together once, not at each chunk
        if len(self._chunks) > 1:
            data = b"".join(self._chunks)
        resets = self._resets
        at, need = await self._cut(data)
        if resets == self._resets:
            rest = data[at:]
            self._chunks, self._have, self._need = [rest] if rest else [], len(rest), need

    async def _cut(self, data: bytes) -> tuple[int, int]:
        """Handles all that is complete; returns where it ended and how many bytes the next needs."""
        takers, find, size, at = self._client.takers, data.find, len(data), 0
        while at < size:
            end = find(b"\r\n", at)
            if end < 0:
                return at, 0
            kind = data[at]
            if kind != _M and kind != _H:
                await self._plain.parse(data[at : end + 2])
                at = end + 2
                continue
            words = data[at:end].split()
            start = end + 2
            stop = start + int(words[-1])
            if stop + 2 > size:
                return at, stop + 2 - at
            if kind == _M:
                reply, header, payload = words[3] if len(words) == 5 else b"", b"", data[start:stop]
            else:
                reply, middle = words[3] if len(words) == 6 else b"", start + int(words[-2])
                header, payload = data[start:middle], data[middle:stop]
            at = stop + 2
            taker = takers.get(words[2])
            if taker is not None:
                taker(words[1], reply, header, payload)
            else:
                await self._client._process_msg(int(words[2]), words[1], reply, payload, header or None)
        return at, 0
