"""Ctrl-C, SIGTERM and SIGHUP for work that must clean up: it is cancelled once, and may take its time."""

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator

from jsctl.errors import Cancelled, ExitStatus


class Stopped(Cancelled):
    """A signal ended the work."""

    status = ExitStatus.INTERRUPTED


@contextlib.asynccontextmanager
async def stoppable() -> AsyncIterator[list[signal.Signals]]:
    """Within the block a signal cancels the task; the block then ends with Stopped, whatever the cleaning
    up raises. Gives the list of signals that came."""
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    assert task is not None
    came: list[signal.Signals] = []

    def stop(number: signal.Signals) -> None:
        if not came:
            task.cancel()
        came.append(number)

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    for number in numbers:
        loop.add_signal_handler(number, stop, number)
    try:
        yield came
    except (asyncio.CancelledError, Exception):
        if not came:
            raise
        task.uncancel()
        raise Stopped(f"stopped by {came[0].name}") from None
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
