"""Ctrl-C and SIGTERM as an ordinary end."""

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def interrupts(end: Callable[[], None]) -> Iterator[None]:
    """While it is open, SIGINT and SIGTERM call `end`; a second one ends the process as usual."""
    loop = asyncio.get_running_loop()
    numbers = (signal.SIGINT, signal.SIGTERM)

    def restore() -> None:
        for number in numbers:
            # Signals are for the main thread only.
            with contextlib.suppress(ValueError, RuntimeError):
                loop.remove_signal_handler(number)

    def first() -> None:
        restore()
        end()

    for number in numbers:
        with contextlib.suppress(ValueError, RuntimeError):
            loop.add_signal_handler(number, first)
    try:
        yield
    finally:
        restore()
