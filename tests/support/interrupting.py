"""Ctrl-C while something runs in this process."""

import contextlib
import os
import signal
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def interrupt(work: Callable[[], T], seconds: float, before: Callable[[], object] | None = None) -> T:
    """Return the result of `work`, which ctrl-C ends: it is pressed every so many seconds until the work has
    ended. Where it is pressed in the very moment in which the work ends, this is done again.

    before: called when the first of these times has passed, instead of ctrl-C.
    """
    has_begun, has_ended = threading.Event(), threading.Event()

    def press() -> None:
        has_begun.wait()
        if before and not has_ended.wait(seconds):
            before()
        while not has_ended.wait(seconds):
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    results: list[T] = []
    is_over = False
    while not is_over:
        with contextlib.suppress(KeyboardInterrupt):
            if not has_begun.is_set():
                has_begun.set()
                results.append(work())
            has_ended.set()
            thread.join()
            signal.signal(signal.SIGINT, signal.getsignal(signal.SIGINT))  # handles what has arrived, first
            is_over = True
    return results[0] if results else interrupt(work, seconds, before)
