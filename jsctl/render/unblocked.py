"""Output that never waits for its reader: what a full pipe or a stopped terminal does not accept is written
later, and dropped above a limit.
"""

import asyncio
import contextlib
import os
import select
import sys
from collections import deque
from collections.abc import AsyncIterator
from typing import Any, Protocol, TextIO, cast

MAX_WAITING_BYTES = 4 << 20
"""Bytes that may wait for a slow reader."""

_RETRY_INTERVAL = 0.05  #: seconds between two attempts to write more
_FINISH_SECONDS = 2.0  #: seconds that the reader has at the end
_MAX_WRITE = min(getattr(select, "PIPE_BUF", 512), 4096)  #: bytes of one write, which never blocks


class OutputStreams(Protocol):
    """An object with the two output streams."""

    stdout: TextIO
    stderr: TextIO


@contextlib.asynccontextmanager
async def unblocked(streams: OutputStreams) -> AsyncIterator[None]:
    """Replace the output streams by ones that do not wait; at the end, report on stderr what was dropped."""
    out, err = streams.stdout, streams.stderr
    if sys.platform == "win32":  # where select does not work for pipes
        yield
        return
    replacements = [Unblocked(out), Unblocked(err)]
    streams.stdout, streams.stderr = (cast(TextIO, stream) for stream in replacements)
    try:
        yield
    finally:
        finished = await asyncio.gather(*(stream.finish() for stream in replacements))
        streams.stdout, streams.stderr = out, err
        left_out = replacements[0].left_out
        if left_out and finished[1]:
            err.write(f"jsctl: {left_out:,} bytes of output were dropped: the reader was too slow\n")
            err.flush()


class Unblocked:
    """A text stream that does not wait. A stream without a file, as in tests, is written immediately.

    left_out: bytes that were dropped.
    """

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._waiting: deque[memoryview] = deque()
        self._size = 0
        self._timer: asyncio.TimerHandle | None = None
        self._error: OSError | None = None
        self.left_out = 0
        try:
            self._fd = out.fileno()
            out.flush()
        except (OSError, ValueError, AttributeError):
            self._fd = -1

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":  # bytes are written as text, to keep the order
            raise AttributeError(name)
        return getattr(self._out, name)

    def write(self, text: str) -> int:
        """Write, or buffer for later. Raises BrokenPipeError or another OSError of earlier output."""
        if self._fd < 0:
            return self._out.write(text)
        if self._error:
            raise self._error
        data = text.encode(self._out.encoding or "utf-8", self._out.errors or "surrogateescape")
        if self._size + len(data) > MAX_WAITING_BYTES:
            self.left_out += len(data)
        else:
            self._waiting.append(memoryview(data))
            self._size += len(data)
        return len(text)

    def flush(self) -> None:
        """Write as much as the reader accepts now."""
        if self._fd < 0:
            self._out.flush()
            return
        self._drain()
        if self._error:
            raise self._error

    def _drain(self) -> None:
        self._timer = None
        try:
            while self._waiting and select.select([], [self._fd], [], 0)[1]:
                data = self._waiting.popleft()
                written = os.write(self._fd, data[:_MAX_WRITE])
                self._size -= written
                if written < len(data):
                    self._waiting.appendleft(data[written:])
        except OSError as error:
            self._error = error
            self._waiting.clear()
        if self._waiting and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_RETRY_INTERVAL, self._drain)

    async def finish(self) -> bool:
        """Wait until everything is written or the reader's time is up. Returns whether everything was
        written.
        """
        end = asyncio.get_running_loop().time() + _FINISH_SECONDS
        while self._waiting and not self._error and asyncio.get_running_loop().time() < end:  # noqa: ASYNC110
            await asyncio.sleep(_RETRY_INTERVAL)
        if self._timer:
            self._timer.cancel()
        self.left_out += self._size if self._waiting else 0
        return not self._waiting
