"""Leaving out of a snapshot the consumers with which servers copy messages to other streams.

Servers (2.15) make one on a work queue or interest stream for each stream that sources from it. On a copy, it
would deliver to that stream the copy's messages as those of the original, whose own messages with these
sequences would then be acknowledged, and never stored. A stream that is restored as itself keeps them.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from jsctl.jetstream.api import Json
from jsctl.jetstream.backup.archive import ArchiveReader, Consumer, State, encode_state
from jsctl.jetstream.backup.s2 import BLOCK_SIZE, STREAM_START, FrameReader, build_frame
from jsctl.jetstream.config.kind import is_copying


class _Head:
    """The beginning of a snapshot, up to its last consumer."""

    def __init__(self) -> None:
        self._frames, self._reader = FrameReader(), ArchiveReader()
        self._arrived, self._read = bytearray(), len(STREAM_START)  #: the bytes, and how many the frames have
        self._data = bytearray()
        self._state = State(0, {})
        self._consumers: list[Consumer] = []
        self._position = 0  #: in the data, behind the last consumer
        self._is_complete = False

    def feed(self, chunk: bytes) -> bytes | None:
        """Return what has arrived without such consumers, once that is known."""
        self._arrived += chunk
        try:
            for frame in self._frames.feed(chunk):
                if not self._is_complete:
                    self._read += len(frame.raw)
                    self._add(frame.decode() if frame.has_data else b"")
        except ValueError:
            return bytes(self._arrived)  # the server says what is wrong with it
        return self._build() if self._is_complete else None

    def finish(self) -> bytes:
        """Return what has arrived, if it ended before."""
        return b"" if self._is_complete else bytes(self._arrived)

    def _add(self, data: bytes | memoryview) -> None:
        self._data += data
        for item in self._reader.feed(data):
            if isinstance(item, State):
                self._state = item
            elif isinstance(item, Consumer):
                self._consumers.append(item)
            if len(self._consumers) == int(self._state.state.get("consumer_count", 0)):
                self._position = self._reader.position
                self._is_complete = True
                return

    def _build(self) -> bytes:
        kept = [one for one in self._consumers if not is_copying(one.content["config"])]
        if len(kept) == len(self._consumers):
            return bytes(self._arrived)
        state: Json = {**self._state.state, "consumer_count": len(kept)}
        data = encode_state(state, self._state.time) + b"".join(one.raw for one in kept)
        data += self._data[self._position :]
        blocks = [build_frame(data[at : at + BLOCK_SIZE]) for at in range(0, len(data), BLOCK_SIZE)]
        return b"".join((STREAM_START, *blocks, self._arrived[self._read :]))


async def leave_out_copying(chunks: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """Yield the chunks of a snapshot without these consumers."""
    head: _Head | None = _Head()
    async with aclosing(chunks):
        async for chunk in chunks:
            if head is None:
                yield chunk
            elif (begun := head.feed(chunk)) is not None:
                head = None
                yield begun
    if head is not None:
        yield head.finish()
