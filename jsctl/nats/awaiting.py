"""Ways to await that asyncio, or nats-py, has not."""

import asyncio
import types
from collections.abc import Awaitable, Coroutine, Generator
from typing import Any


async def wait_for(awaitable: Awaitable[Any], timeout: float | None) -> Any:
    """asyncio.wait_for as in Python 3.12: before, it loses a cancellation that comes with the result."""
    async with asyncio.timeout(timeout):
        return await awaitable


async def unlost(work: Awaitable[None]) -> None:
    """Await what takes a cancellation for an end. Raises CancelledError when one came meanwhile."""
    task = asyncio.current_task()
    before = task.cancelling() if task else 0
    await work
    if task and task.cancelling() > before:
        raise asyncio.CancelledError


@types.coroutine
def go_on(work: Coroutine[Any, Any, None], awaited: Any) -> Generator[Any, Any, None]:
    """Await the rest of a coroutine that was started without a task."""
    yield awaited
    yield from work
