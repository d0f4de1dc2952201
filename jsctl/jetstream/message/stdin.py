"""Payloads from stdin and from files, as bytes, without keeping ctrl-C waiting."""

import io
import os
import select
import threading
from collections.abc import AsyncIterator, Callable
from typing import IO, TYPE_CHECKING, Any, TextIO

from jsctl.base.files import is_regular, open_input
from jsctl.base.loops import enter_event_loop
from jsctl.base.user_folders import expand_home
from jsctl.errors import BadInput
from jsctl.nats.codec import MAX_PAYLOAD

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer as Buffer

STDIN = "-"
"""A body or value that asks for stdin."""

_BLOCK = 1 << 20  #: bytes of a file that are read at once
_CHUNK = 1 << 16
_CHUNKS = 64  #: maximum read ahead: a fast writer must not fill our memory
_NOTICE_SECONDS = 2.0  #: seconds without a byte until `notify` is called


class Stdin:
    """The bytes of stdin, or of another file whose reads may wait, to its end.

    notify: called once when nothing comes for two seconds, perhaps in another thread.
    """

    def __init__(self, stdin: IO[Any], notify: Callable[[], object] = lambda: None) -> None:
        self._stdin = stdin
        self._notify = notify

    @property
    def is_terminal(self) -> bool:
        """Whether a user enters it."""
        return self._stdin.isatty()

    async def read_chunks(self) -> AsyncIterator[bytes]:
        """Yield the bytes as they become available. Raises BadInput if stdin cannot be read."""
        try:
            handle = os.dup(self._stdin.fileno())  # the thread may outlast the file
        except (OSError, ValueError):  # an object in place of a file
            yield str(self._stdin.read()).encode(errors="surrogateescape")
            return
        await enter_event_loop()  # a thread will read stdin while the loop runs
        import asyncio

        loop = asyncio.get_running_loop()
        chunks: asyncio.Queue[bytes | OSError] = asyncio.Queue()
        room = threading.Semaphore(_CHUNKS)

        def read() -> None:
            # os.read: a daemon thread that waits in sys.stdin would hold its lock when Python ends.
            chunk: bytes | OSError = b" "
            while chunk and not isinstance(chunk, OSError):
                try:
                    chunk = _read(handle, _CHUNK)
                except OSError as error:
                    chunk = error
                room.acquire()
                try:
                    loop.call_soon_threadsafe(chunks.put_nowait, chunk)
                except RuntimeError:  # the loop has ended
                    break
            os.close(handle)

        threading.Thread(target=read, daemon=True).start()
        notice = None if self.is_terminal else loop.call_later(_NOTICE_SECONDS, self._notify)
        try:
            while chunk := await chunks.get():
                if isinstance(chunk, OSError):
                    raise _describe(chunk)
                if notice is not None:
                    notice.cancel()
                room.release()
                yield chunk
        finally:
            if notice is not None:
                notice.cancel()

    async def read_all(self, limit: int = MAX_PAYLOAD) -> bytes:
        """Return all bytes. Raises BadInput, also for more than `limit` bytes."""
        chunks, size = [], 0
        async for chunk in self.read_chunks():
            chunks.append(chunk)
            size += len(chunk)
            if size > limit:
                reason = ", which no server takes" if limit == MAX_PAYLOAD else ""
                raise BadInput(f"stdin has more than {limit:,} bytes{reason}")
        return b"".join(chunks)

    async def read_lines(self) -> AsyncIterator[list[bytes]]:
        """Yield lines without their line ends, in groups as they become available. Raises BadInput, also for
        a line of more than MAX_PAYLOAD bytes."""
        splitter = LineSplitter("stdin")
        async for chunk in self.read_chunks():
            if lines := splitter.feed(chunk):
                yield lines
        if lines := splitter.end():
            yield lines

    def open(self) -> "StdinFile | io.BytesIO":
        """Return stdin as a file of unlimited size, whose reads block."""
        try:
            return StdinFile(self._stdin.fileno(), self._notify)
        except (OSError, ValueError):  # an object in place of a file
            return io.BytesIO(str(self._stdin.read()).encode(errors="surrogateescape"))


class LineSplitter:
    """A splitter of chunks of bytes into lines of any length, without their line ends, that keeps at most one
    line. name: the source's, for errors."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._parts: list[bytes] = []  #: the parts of the last line
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines that a chunk completes. Raises BadInput for a line of more than MAX_PAYLOAD
        bytes."""
        first, *rest = chunk.split(b"\n")
        self._parts.append(first)
        self._size += len(first)
        lines = list[bytes]()
        if rest:
            lines = [b"".join(self._parts), *rest[:-1]]
            self._parts, self._size = [rest[-1]], len(rest[-1])
        if max([self._size, *map(len, lines)]) > MAX_PAYLOAD:
            raise BadInput(
                f"{self._name} has a line of more than {MAX_PAYLOAD:,} bytes, which no server takes"
            )
        return [line.removesuffix(b"\r") for line in lines]

    def end(self) -> list[bytes]:
        """Return the last line if it has no line end; empty otherwise."""
        last_line = b"".join(self._parts)
        return [last_line] if last_line else []


async def read_chunks(path: str, stdin: TextIO, *, regular: bool = False) -> AsyncIterator[bytes]:
    """Yield the bytes of a file of any size, which may be a pipe; of stdin for `-`.

    regular: see `jsctl.base.files.read_bytes`. Raises BadInput.
    """
    if path == STDIN:
        async for chunk in Stdin(stdin).read_chunks():
            yield chunk
        return
    with open_input(expand_home(path), regular=regular) as file:
        if not is_regular(file):
            async for chunk in Stdin(file).read_chunks():
                yield chunk
            return
        while chunk := file.read1(_BLOCK):
            yield chunk


class StdinFile(io.RawIOBase):
    """A file whose reads may wait for long; `close` ends a waiting read, so that the process can end."""

    def __init__(self, handle: int, notify: Callable[[], object]) -> None:
        self._handle = handle
        self._notify: Callable[[], object] | None = notify

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "Buffer") -> int:
        """Read up to the size of the buffer. Raises BadInput if stdin cannot be read."""
        waited = 0.0
        try:
            while not select.select([self._handle], [], [], 0.1)[0]:
                waited += 0.1
                if self.closed:
                    return 0
                if waited >= _NOTICE_SECONDS and self._notify is not None:
                    self._notify()
                    self._notify = None
            self._notify = None
            view = memoryview(buffer)
            data = _read(self._handle, len(view))
        except OSError as error:
            raise _describe(error) from None
        view[: len(data)] = data
        return len(data)


def _read(handle: int, size: int) -> bytes:
    """Read from a file that may be non-blocking, as another process may have made it. Raises OSError."""
    while True:
        try:
            return os.read(handle, size)
        except BlockingIOError:
            select.select([handle], [], [])


def _describe(error: OSError) -> BadInput:
    return BadInput(f"cannot read stdin: {error.strerror}", "</dev/null is an empty one")
