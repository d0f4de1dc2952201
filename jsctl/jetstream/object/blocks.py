"""Reading a file in blocks beside the event loop, with checksums computed on the way."""

import asyncio
import hashlib
from typing import BinaryIO, NamedTuple

import crc32c

_BLOCK = 1 << 20
"""Bytes that are read ahead, at least a chunk."""


class Chunk(NamedTuple):
    """A part of an object. number: 0 for the first."""

    number: int
    data: bytes
    checksum: int  #: CRC-32C


class BlockReader:
    """Cuts a file into chunks. The next block is read while the last one is sent."""

    def __init__(self, file: BinaryIO, chunk_size: int) -> None:
        self._file = file
        self._chunk_size = chunk_size
        self._ahead_of = max(_BLOCK // chunk_size, 1)  #: chunks that are read at once
        self._hash = hashlib.sha256()
        self._ahead: asyncio.Task[list[Chunk]] | None = None
        self.size = 0  #: bytes that were read
        self.chunks = 0

    @property
    def digest(self) -> bytes:
        """The SHA-256 of what was read."""
        return self._hash.digest()

    async def read(self) -> list[Chunk]:
        """Return the next chunks, none at the end. Raises OSError."""
        reading = self._ahead or asyncio.ensure_future(asyncio.to_thread(self._read))
        self._ahead = None
        chunks = await asyncio.shield(reading)
        if chunks:
            self._ahead = asyncio.ensure_future(asyncio.to_thread(self._read))
        return chunks

    async def close(self) -> None:
        """Wait for the read that is under way."""
        if self._ahead is not None:
            await asyncio.wait([self._ahead])
            self._ahead.cancelled() or self._ahead.exception()

    def _read(self) -> list[Chunk]:
        chunks: list[Chunk] = []
        while len(chunks) < self._ahead_of and (data := self._fill()):
            self._hash.update(data)
            self.size += len(data)
            chunks.append(Chunk(self.chunks, data, crc32c.crc32c(data)))
            self.chunks += 1
        return chunks

    def _fill(self) -> bytes:
        """Read a whole chunk, also from a pipe, which gives less at a time."""
        data = self._file.read(self._chunk_size)
        if not data or len(data) == self._chunk_size:
            return data
        parts, left = [data], self._chunk_size - len(data)
        while left and (part := self._file.read(left)):
            parts.append(part)
            left -= len(part)
        return b"".join(parts)
