"""Ways to await that asyncio and nats-py lack."""

import asyncio
import types
from collections.abc import Awaitable, Coroutine, Generator
from typing import Any


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
