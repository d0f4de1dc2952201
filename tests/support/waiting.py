"""Waiting for what servers and processes do, instead of sleeping until they probably have."""

import time
from collections.abc import Callable


def wait_for(condition: Callable[[], object], missing: str, seconds: float = 15) -> None:
    """Return as soon as the condition is true. Raises AssertionError with `missing` after `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, missing
        time.sleep(0.02)
