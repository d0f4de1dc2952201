"""What is fetched repeatedly."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import TypeVar

from jsctl.errors import Unreachable
from jsctl.jetstream.api import Json
from jsctl.units import SECOND

T = TypeVar("T")


async def poll_info(
    fetch: Callable[[], Awaitable[Json]], interval: float
) -> AsyncIterator[tuple[Json, Json | None, float]]:
    """Yield an info every `interval` seconds, the first at once, with the one before it and the seconds
    between the two; none while the server does not answer.

    Raises what `fetch` raises: ApiError when the stream or consumer no longer exists, Unreachable when the
    first request gets no answer.
    """
    loop = asyncio.get_running_loop()
    due = loop.time()
    before: tuple[float, Json] | None = None
    while True:
        try:
            info = await fetch()
        except Unreachable:
            if before is None:
                raise
        else:
            taken = loop.time()
            yield info, before[1] if before else None, max(taken - before[0], 1e-6) if before else 1.0
            before = taken, info
        due = max(due + interval, loop.time())
        await asyncio.sleep(due - loop.time())


async def fetch_again(fetch: Callable[[], Awaitable[T]], interval: int) -> AsyncGenerator[T, None]:
    """Yield what `fetch` returns, at once and then each time `interval` ns after it was used."""
    while True:
        yield await fetch()
        await asyncio.sleep(interval / SECOND)
