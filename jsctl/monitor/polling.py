"""Fetching the same thing repeatedly."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from jsctl.base.units import SECOND

T = TypeVar("T")


async def yield_rounds(
    seconds: float, count: int | None = None, stop: asyncio.Event | None = None
) -> AsyncGenerator[None, None]:
    """Yield when a round is due, the first at once; after a pause, such as of a laptop that slept, rounds are
    skipped.

    seconds: between rounds. count: None for no end. stop: ends them.
    """
    loop, stop = asyncio.get_running_loop(), stop or asyncio.Event()
    done, due = 0, loop.time()
    while not stop.is_set():
        due += seconds
        yield
        done += 1
        if done == count:
            return
        due = max(due, loop.time())
        with suppress(TimeoutError):
            async with asyncio.timeout_at(due):
                await stop.wait()


async def fetch_again(fetch: Callable[[], Awaitable[T]], interval: int) -> AsyncGenerator[T, None]:
    """Yield what `fetch` returns, at once, and again `interval` ns after the caller asks for the next."""
    while True:
        yield await fetch()
        await asyncio.sleep(interval / SECOND)
