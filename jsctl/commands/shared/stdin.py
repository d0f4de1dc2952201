"""Payloads from stdin, as bytes, without keeping ctrl-C waiting."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator

from jsctl.env import Env

_CHUNK = 1 << 16


async def chunks(env: Env) -> AsyncIterator[bytes]:
    """What stdin says, as it says it."""
    stdin = env.streams.stdin
    try:
        file = stdin.fileno()
    except (OSError, ValueError):
        yield stdin.read().encode(errors="surrogateescape")
        return
    loop = asyncio.get_running_loop()
    arrived: asyncio.Queue[bytes] = asyncio.Queue()
    room = threading.Semaphore(64)  # a fast writer must not fill our memory

    def read() -> None:
        # os.read: a daemon thread that waits in sys.stdin would hold its lock when Python ends.
        while True:
            try:
                chunk = os.read(file, _CHUNK)
            except OSError:
                chunk = b""
            room.acquire()
            try:
                loop.call_soon_threadsafe(arrived.put_nowait, chunk)
            except RuntimeError:  # the loop has ended
                return
            if not chunk:
                return

    threading.Thread(target=read, daemon=True).start()
    while chunk := await arrived.get():
        room.release()
        yield chunk


async def whole(env: Env) -> bytes:
    """All of stdin."""
    return b"".join([chunk async for chunk in chunks(env)])


async def lines(env: Env) -> AsyncIterator[list[bytes]]:
    """Lines without their ends, in the groups in which they come."""
    rest = b""
    async for chunk in chunks(env):
        *complete, rest = (rest + chunk).split(b"\n")
        if complete:
            yield [line.removesuffix(b"\r") for line in complete]
    if rest:
        yield [rest]
