"""Coroutines called from functions that are not asynchronous."""

import asyncio
import contextvars
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine and return its result, also where an event loop is running, as in a notebook.

    There it runs in a thread of its own, and the caller's loop stands still meanwhile. Raises what it raises.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1, "jsctl") as thread:
        return thread.submit(contextvars.copy_context().run, asyncio.run, work).result()
