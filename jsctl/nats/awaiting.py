"""Ways to await that asyncio and nats-py lack."""

import asyncio
import types
from collections.abc import Awaitable, Coroutine, Generator, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


async def wait_for(awaitable: Awaitable[Any], timeout: float | None) -> Any:
    """Await with a timeout in seconds, as `asyncio.wait_for` of Python 3.12 does.

    Older versions lose a cancellation that comes with the result.
    """
    async with asyncio.timeout(timeout):
        return await awaitable


async def await_cancellable(work: Awaitable[None]) -> None:
    """Await work that swallows a cancellation. Raises CancelledError when it was cancelled meanwhile."""
    task = asyncio.current_task()
    cancellations = task.cancelling() if task else 0
    await work
    if task and task.cancelling() > cancellations:
        raise asyncio.CancelledError


@types.coroutine
def await_rest(work: Coroutine[Any, Any, None], awaited: Any) -> Generator[Any, Any, None]:
    """Await the rest of a coroutine that was started without a task."""
    yield awaited
    yield from work


async def gather_or_cancel(work: Iterable[Awaitable[T]]) -> list[T]:
    """Return all results; when one fails or this is cancelled, cancel the others and wait until they have
    ended.

    `asyncio.gather` would leave the others running.
    """
    tasks = [asyncio.ensure_future(awaitable) for awaitable in work]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
