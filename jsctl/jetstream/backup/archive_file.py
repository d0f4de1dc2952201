"""Archives as S2 files: read and written a frame at a time, with threads that decode, encode and hash."""

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import IO, Protocol, Self

from jsctl.jetstream.backup.archive import BrokenArchive
from jsctl.jetstream.backup.events import Advance
from jsctl.jetstream.backup.s2 import ARCHIVE_END, BLOCK_SIZE, STREAM_START, Frame, FrameReader, build_frame

_THREADS = min(4, os.cpu_count() or 1)
_AHEAD = 2 * _THREADS + 2
"""Frames that are decoded ahead of the reader, and encoded behind the writer."""


class Digest(Protocol):
    """A hash of hashlib."""

    def update(self, data: bytes, /) -> None:
        """Add bytes."""


def read_blocks(
    file: IO[bytes], advance: Advance = lambda size: None, digest: Digest | None = None
) -> Iterator[tuple[Frame, memoryview]]:
    """Yield the frames of an S2 file, each with its data.

    advance: called with the number of bytes read. digest: gets all bytes of the file. Raises ValueError for
    what is not an S2 stream, is truncated, or has frames that servers do not write; the frames before have
    been yielded then.
    """
    frames, waiting = FrameReader(), deque[tuple[Frame, Future[memoryview]]]()
    pool = ThreadPoolExecutor(_THREADS)
    hashing: Future[None] | None = None
    fault: ValueError | None = None
    try:
        while fault is None and (chunk := file.read(frames.missing)):
            if digest is not None:
                if hashing is not None:
                    hashing.result()
                hashing = pool.submit(digest.update, chunk)
            try:
                for frame in frames.feed(chunk):
                    if not frame.has_data:  # a damaged byte must not make data vanish
                        raise BrokenArchive("it holds a frame that servers do not write")
                    waiting.append((frame, pool.submit(frame.decode)))
            except ValueError as error:
                fault = error
            while len(waiting) > _AHEAD:
                first, decoded = waiting.popleft()
                yield first, decoded.result()
            advance(len(chunk))
        while waiting:
            first, decoded = waiting.popleft()
            yield first, decoded.result()
        if fault is None and not frames.is_whole:
            fault = BrokenArchive("it is truncated")
        if fault is not None:
            raise fault
        if hashing is not None:
            hashing.result()
    finally:
        pool.shutdown(cancel_futures=True)


class ArchiveWriter:
    """A writer of an archive as an S2 file; a context manager. write: gets the bytes of the file."""

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self._write = write
        self._pending = bytearray()
        self._frames: deque[Future[bytes] | bytes] = deque([STREAM_START])
        self._pool = ThreadPoolExecutor(_THREADS)

    def add(self, data: bytes | memoryview) -> None:
        """Write entries, or a part of one."""
        self._pending += data  # a copy, as a view of a few bytes would keep all of its block in memory
        while len(self._pending) >= BLOCK_SIZE:
            self._put_block()

    def add_frame(self, frame: Frame) -> None:
        """Write entries as the frame that holds them."""
        self._flush()
        self._put(frame.raw)

    def finish(self) -> None:
        """Write the end of the archive."""
        self.add(ARCHIVE_END)
        self._flush()
        self._drain(0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(cancel_futures=True)

    def _flush(self) -> None:
        if self._pending:
            self._put_block()

    def _put_block(self) -> None:
        with memoryview(self._pending) as pending:
            block = bytes(pending[:BLOCK_SIZE])
        del self._pending[:BLOCK_SIZE]
        self._put(self._pool.submit(build_frame, block))

    def _put(self, frame: "Future[bytes] | bytes") -> None:
        self._frames.append(frame)
        self._drain(_AHEAD)

    def _drain(self, most: int) -> None:
        while len(self._frames) > most:
            frame = self._frames.popleft()
            self._write(frame if isinstance(frame, bytes) else frame.result())
