"""What was tried, how often, and how it ended; the table is printed at the end of the run."""

import gc
import os
import resource
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from jsctl.errors import JsctlError

Refusals = tuple[type[Exception], ...]

MAX_SECONDS = 5.0
MAX_BYTES = 200 << 20
"""Memory of a kind of input."""
STACKS = 20 * (8 << 20)
"""Memory for the stacks of threads, which the system counts as data."""


def max_seconds() -> float:
    """Return what a case may take on the clock: MAX_SECONDS, and more on a machine that has more to do than
    its cores can."""
    return MAX_SECONDS * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


RECORDS: list["Record"] = []


def cases(usual: int) -> int:
    """How many cases a test tries: JSCTL_FUZZ times the usual number."""
    return max(1, int(usual * float(os.environ.get("JSCTL_FUZZ") or 1)))


class Record:
    """Counts the cases of one kind of input, which may take `limit` bytes of memory: there is no more for it.

    A case ends well, or with an error in one line. slowest: seconds. largest: bytes at the most, of all
    cases together.
    """

    def __init__(self, name: str, limit: int = MAX_BYTES + STACKS) -> None:
        self.name = name
        self._limit = limit
        self.outcomes: Counter[str] = Counter()
        self.slowest = 0.0
        self.largest = 0
        self._before = 0
        self._limits = resource.getrlimit(resource.RLIMIT_DATA)

    def __enter__(self) -> Self:
        RECORDS.append(self)
        gc.collect()  # the room for what earlier tests left is free for this one
        Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here on
        self._before = _memory("VmRSS")
        limit = _memory("VmData") + self._limit
        resource.setrlimit(resource.RLIMIT_DATA, (limit, self._limits[1]))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, where: TracebackType | None) -> None:
        resource.setrlimit(resource.RLIMIT_DATA, self._limits)
        self.largest = _memory("VmHWM") - self._before
        print(f"{self.name}: {dict(self.outcomes)}")

    def count(self, outcome: object) -> None:
        self.outcomes[str(outcome)] += 1

    def tried(self, case: Callable[[], Any], refusals: Refusals = (ValueError,)) -> None:
        """Run one case. refusals: errors beside JsctlError that its callers turn into one line."""
        started = time.process_time()
        try:
            case()
        except Exception as error:
            assert isinstance(error, (JsctlError, *refusals)), repr(error)
            assert not isinstance(error, UnicodeError | AssertionError), error
            assert str(error)  # line ends in it are escaped where it is written
            self.count("refused")
        else:
            self.count("done")
        spent = time.process_time() - started
        self.slowest = max(self.slowest, spent)
        assert spent < MAX_SECONDS, f"{spent:.1f} s"


def _memory(name: str) -> int:
    """Bytes that the system tells about this process."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise AssertionError(name)


def table() -> list[str]:
    """One line a kind of input."""
    lines = []
    for record in RECORDS:
        ends = ", ".join(f"{count:,} {name}" for name, count in sorted(record.outcomes.items()))
        memory = f"{max(record.largest, 0) / 1048576:.0f} MiB at the most"
        total = sum(record.outcomes.values())
        lines.append(f"{record.name:32} {total:>6,}: {ends}; slowest {record.slowest:.2f} s, {memory}")
    return lines
