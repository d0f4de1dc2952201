"""Payloads from stdin, as bytes, without keeping ctrl-C waiting."""

import os
import stat
import struct
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TextIO

from jsctl.errors import BadInput
from jsctl.jetstream.message.lines import LineSplitter
from jsctl.later import asyncio
from jsctl.loops import await_event_loop
from jsctl.nats.codec import MAX_PAYLOAD

STDIN = "-"
"""A body or value that asks for stdin."""

_CHUNK = 1 << 16
_CHUNKS = 64  #: maximum read ahead: a fast writer must not fill our memory


def is_ours(stdin: TextIO) -> bool:
    """Return whether stdin is meant only for this process.

    It is when it is a terminal, when our parent does not have it, or when it is a pipe to a shell that has
    read nothing: `echo x | { jsctl pub s; }`. A loop (`while read ...`) shares its stdin with the commands in
    it, and a script shares the rest of its own input; a pipe or redirection for a single command is not kept
    open by the shell.
    """
    if stdin.isatty():
        return True
    try:
        stdin_status = os.fstat(stdin.fileno())
    except (OSError, ValueError):
        return True  # not a file, but an object for this process
    try:
        parent_status = Path(f"/proc/{os.getppid()}/fd/0").stat()
    except PermissionError:
        return False
    except OSError:
        return _has_proc() or sys.stdout.isatty()  # otherwise, as the `nats` tool decides
    if (stdin_status.st_dev, stdin_status.st_ino) != (parent_status.st_dev, parent_status.st_ino):
        return True
    return stat.S_ISFIFO(stdin_status.st_mode) and not _has_parent_read()


def has_input(stdin: TextIO) -> bool:
    """Return whether stdin is a file or a pipe with unread data."""
    try:
        import fcntl
        import termios
    except ImportError:  # Windows
        return not stdin.isatty()
    try:
        status = os.fstat(stdin.fileno())
        if stat.S_ISREG(status.st_mode):
            return os.lseek(stdin.fileno(), 0, os.SEEK_CUR) < status.st_size
        if not stat.S_ISFIFO(status.st_mode):
            return False
        return bool(struct.unpack("i", fcntl.ioctl(stdin.fileno(), termios.FIONREAD, bytes(4)))[0])
    except (OSError, ValueError):
        return False


def _has_parent_read() -> bool:
    """Return whether the parent process, or a child of it that has ended, has read anything since its
    start."""
    try:
        counts = Path(f"/proc/{os.getppid()}/io").read_text(encoding="ascii")
    except OSError:
        return True
    return not counts.startswith("rchar: 0\n")


def _has_proc() -> bool:
    return Path("/proc/self/fd/0").exists()


async def read_chunks(stdin: TextIO) -> AsyncIterator[bytes]:
    """Yield the bytes of stdin as they become available."""
    try:
        file = stdin.fileno()
    except (OSError, ValueError):
        yield stdin.read().encode(errors="surrogateescape")
        return
    await await_event_loop()  # a thread will read stdin while the loop runs
    loop = asyncio.get_running_loop()
    chunks: asyncio.Queue[bytes] = asyncio.Queue()
    room = threading.Semaphore(_CHUNKS)

    def read() -> None:
        # os.read: a daemon thread that waits in sys.stdin would hold its lock when Python ends.
        while True:
            try:
                chunk = os.read(file, _CHUNK)
            except OSError:
                chunk = b""
            room.acquire()
            try:
                loop.call_soon_threadsafe(chunks.put_nowait, chunk)
            except RuntimeError:  # the loop has ended
                return
            if not chunk:
                return

    threading.Thread(target=read, daemon=True).start()
    while chunk := await chunks.get():
        room.release()
        yield chunk


async def read_all(stdin: TextIO) -> bytes:
    """Return all of stdin. Raises BadInput for more than MAX_PAYLOAD bytes."""
    chunks, size = [], 0
    async for chunk in read_chunks(stdin):
        chunks.append(chunk)
        size += len(chunk)
        if size > MAX_PAYLOAD:
            raise BadInput(
                f"the payload from stdin has more than {MAX_PAYLOAD:,} bytes, which no server takes"
            )
    return b"".join(chunks)


async def read_lines(stdin: TextIO) -> AsyncIterator[list[bytes]]:
    """Yield lines without their line ends, in groups as they become available. Raises BadInput for a line of
    more than MAX_PAYLOAD bytes."""
    splitter = LineSplitter("stdin")
    async for chunk in read_chunks(stdin):
        if lines := splitter.feed(chunk):
            yield lines
    if lines := splitter.end():
        yield lines
