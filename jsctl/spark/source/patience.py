"""The limits of attempts while a server is away."""

import time
from collections.abc import Callable

from jsctl.base.units import SECOND
from jsctl.errors import JsctlError, Unreachable

FIRST_PAUSE, MAX_PAUSE = 0.2, 5.0
"""Shortest and longest pause between two attempts (s); five attempts outlast a leader election (up to 9
s)."""


class Patience:
    """A count of attempts without progress.

    retries: attempts that are always allowed. timeout: ns during which further attempts are allowed.
    """

    def __init__(self, retries: int, timeout: int = 0, clock: Callable[[], float] = time.monotonic) -> None:
        self.failures = 0
        self._retries = retries
        self._timeout = timeout
        self._clock = clock
        self._since = 0.0

    def record_success(self) -> None:
        """Reset the count of failures after progress."""
        self.failures = 0

    def record_failure(self, error: Exception, problem: str, *, timed: bool = True) -> None:
        """Count an attempt. Raises its error when there were too many; Unreachable, with the message that
        `problem` failed, for an error that is not jsctl's.

        timed: whether the timeout allows for more attempts.
        """
        now = self._clock()
        if not self.failures:
            self._since = now
        self.failures += 1
        is_late = not timed or (now - self._since) * SECOND >= self._timeout
        if self.failures > self._retries and is_late:
            if isinstance(error, JsctlError):
                raise error
            raise Unreachable(problem, str(error)) from None

    def pause(self) -> None:
        """Wait before the next attempt."""
        time.sleep(min(FIRST_PAUSE * 4.0 ** min(self.failures - 1, 8), MAX_PAUSE))
