"""Waiting for what servers and processes do, instead of sleeping until they probably have.

A deadline is for what never comes: on a busy machine, all takes ten times as long.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def wait_for(condition: Callable[[], object], missing: str, seconds: float = 60) -> None:
    """Return as soon as the condition is true. Raises AssertionError with `missing` after `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, missing
        time.sleep(0.02)


def wait_until(read: Callable[[], T], accept: Callable[[T], object], seconds: float = 60) -> T:
    """Return the value of `read` as soon as it is accepted. Raises AssertionError with the last one."""
    deadline = time.monotonic() + seconds
    while not accept(value := read()):
        assert time.monotonic() < deadline, value
        time.sleep(0.05)
    return value


def has_file(folder: Path, pattern: str) -> bool:
    """Whether there is such a file; unlike Path.glob, it passes over folders that are removed meanwhile."""
    return any(Path(top, name).match(pattern) for top, _, names in os.walk(folder) for name in names)
