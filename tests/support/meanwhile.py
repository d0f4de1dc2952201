"""A coroutine that runs in a thread of its own while a test does something else."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def running(work: Callable[[threading.Event], Coroutine[Any, Any, None]]) -> Iterator[None]:
    """Run `work` while the block runs. It gets an event that is set when it should end."""
    ended = threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(work(ended)))
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
