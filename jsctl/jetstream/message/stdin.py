"""Payloads from stdin, as bytes, without keeping ctrl-C waiting."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator
from typing import TextIO

_CHUNK = 1 << 16
_CHUNKS = 64  #: read ahead at most: a fast writer must not fill our memory


async def read_chunks(stdin: TextIO) -> AsyncIterator[bytes]:
    """Yield what stdin has, as it becomes available."""
    try:
        file = stdin.fileno()
    except (OSError, ValueError):
        yield stdin.read().encode(errors="surrogateescape")
        return
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
    """Return all of stdin."""
    return b"".join([chunk async for chunk in read_chunks(stdin)])


async def read_lines(stdin: TextIO) -> AsyncIterator[list[bytes]]:
    """Yield lines without their line ends, in groups as they become available."""
    rest = b""
    async for chunk in read_chunks(stdin):
        *complete, rest = (rest + chunk).split(b"\n")
        if complete:
            yield [line.removesuffix(b"\r") for line in complete]
    if rest:
        yield [rest]
