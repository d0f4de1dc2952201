"""Reading a file in blocks, with checksums computed on the way."""

import asyncio
import hashlib
from collections import deque
from typing import NamedTuple, Protocol, cast

from jsctl.base.checksums import crc32c

_BLOCK = 2 << 20
"""Bytes that are read ahead, but at least one chunk."""


class Readable(Protocol):
    """A file that is read into existing memory."""

    def readinto(self, buffer: memoryview, /) -> int | None:
        """Read up to the size of the buffer; return how many bytes, 0 at the end."""


class _Block:
    """Memory that is reused for chunks: new memory for each would cost a third of a put.

    used: number of chunks in it that are still needed."""

    def __init__(self, size: int) -> None:
        self.memory = bytearray(size)
        self.used = 0


class Chunk(NamedTuple):
    """A part of an object, until it is released. number: 0 for the first. data: a view of its block."""

    number: int
    data: bytes
    checksum: int  #: CRC-32C
    block: _Block


class BlockReader:
    """A reader that cuts a file into chunks.

    may_wait: whether a read may take long, as of a pipe. The next block is then read in a thread while the
    last one is sent; for other files the thread would cost more than it saves.
    """

    def __init__(self, file: Readable, chunk_size: int, *, may_wait: bool) -> None:
        self._file = file
        self._may_wait = may_wait
        self._chunk_size = chunk_size
        self._chunks_per_block = max(_BLOCK // chunk_size, 1)  #: chunks that are read at once
        self._hash = hashlib.sha256()
        self._reading: asyncio.Task[list[Chunk]] | None = None
        self._free: deque[_Block] = deque()
        self.size = 0  #: bytes that were read so far
        self.chunks = 0

    @property
    def digest(self) -> bytes:
        """The SHA-256 of what was read."""
        return self._hash.digest()

    async def read(self) -> list[Chunk]:
        """Return the next chunks, none at the end. Raises OSError."""
        if not self._may_wait:
            return self._read()
        reading = self._reading or asyncio.ensure_future(asyncio.to_thread(self._read))
        self._reading = None
        chunks = await asyncio.shield(reading)
        if chunks:
            self._reading = asyncio.ensure_future(asyncio.to_thread(self._read))
        return chunks

    def release(self, chunk: Chunk) -> None:
        """Reuse the memory of a chunk that is no longer needed."""
        chunk.block.used -= 1
        if not chunk.block.used:
            self._free.append(chunk.block)

    async def close(self) -> None:
        """Wait for the read that is running."""
        if self._reading is not None:
            await asyncio.wait([self._reading])
            self._reading.cancelled() or self._reading.exception()

    def _read(self) -> list[Chunk]:
        block = self._free.popleft() if self._free else _Block(self._chunks_per_block * self._chunk_size)
        view = memoryview(block.memory)
        filled = self._fill(view)
        self._hash.update(view[:filled])
        chunks: list[Chunk] = []
        for start in range(0, filled, self._chunk_size):
            data = cast(bytes, view[start : min(start + self._chunk_size, filled)])
            chunks.append(Chunk(self.chunks, data, crc32c(data), block))
            self.chunks += 1
        self.size += filled
        block.used = len(chunks)
        return chunks

    def _fill(self, view: memoryview) -> int:
        """Read a whole block, also from a pipe, which returns less at a time. Return how many bytes."""
        filled = 0
        while filled < len(view) and (count := self._file.readinto(view[filled:])):
            filled += count
        return filled
