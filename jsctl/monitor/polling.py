"""Fetching the same thing repeatedly."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Generic, TypeVar

from jsctl.base.units import SECOND
from jsctl.errors import Unreachable
from jsctl.jetstream.api import Json

T = TypeVar("T")


class Sampler(Generic[T]):
    """A source of samples of one thing, each made of an info and the one before it.

    fetch: returns an info. compare: makes the sample of an info, the one before it (None for the first), and
    the seconds between the two.
    """

    def __init__(
        self, fetch: Callable[[], Awaitable[Json]], compare: Callable[[Json, Json | None, float], T]
    ) -> None:
        self._fetch = fetch
        self._compare = compare
        self._previous: tuple[float, Json] | None = None

    async def take(self) -> T:
        """Return a sample of this moment. Raises what `fetch` raises."""
        info, previous = await self._fetch(), self._previous
        now = time.monotonic()
        self._previous = now, info
        if previous is None:
            return self._compare(info, None, 1.0)
        return self._compare(info, previous[1], max(now - previous[0], 1e-6))


async def poll_samples(sampler: Sampler[T], interval: float) -> AsyncIterator[T]:
    """Yield a sample every `interval` seconds, the first at once; none while the server does not answer.

    Raises what its `fetch` raises: ApiError when the stream or consumer no longer exists, Unreachable when
    the first request gets no answer.
    """
    answered = False
    async for _ in yield_rounds(interval):
        try:
            sample = await sampler.take()
        except Unreachable:
            if not answered:
                raise
        else:
            answered = True
            yield sample


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
