"""What was tried, how often, and how it ended; the table is printed at the end of the run."""

import os
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from jsctl.errors import JsctlError

Refusals = tuple[type[Exception], ...]

MAX_SECONDS = 5.0
MAX_BYTES = 200 << 20

RECORDS: list["Record"] = []


def cases(usual: int) -> int:
    """How many cases a test tries: JSCTL_FUZZ times the usual number."""
    return max(1, int(usual * float(os.environ.get("JSCTL_FUZZ") or 1)))


class Record:
    """Counts the cases of one kind of input. A case ends well, or with an error in one line."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.outcomes: Counter[str] = Counter()
        self.slowest = 0.0
        self.largest = 0

    def __enter__(self) -> Self:
        RECORDS.append(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, where: TracebackType | None) -> None:
        print(f"{self.name}: {dict(self.outcomes)}")

    def count(self, outcome: object) -> None:
        self.outcomes[str(outcome)] += 1

    def tried(self, case: Callable[[], Any], refusals: Refusals = (ValueError,)) -> None:
        """Run one case. refusals: errors beside JsctlError that its callers turn into one line."""
        started = time.perf_counter()
        try:
            case()
        except Exception as error:
            assert isinstance(error, (JsctlError, *refusals)), repr(error)
            assert not isinstance(error, UnicodeError | AssertionError), error
            assert str(error)  # line ends in it are escaped where it is written
            self.count("refused")
        else:
            self.count("done")
        spent = time.perf_counter() - started
        self.slowest = max(self.slowest, spent)
        assert spent < MAX_SECONDS, f"{spent:.1f} s"

    def measured(self, case: Callable[[], Any], refusals: Refusals = (ValueError,)) -> None:
        """As `tried`, and the memory that it took is bounded, too."""
        tracemalloc.start()
        try:
            self.tried(case, refusals)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        self.largest = max(self.largest, peak)
        assert peak < MAX_BYTES, f"{peak:,} bytes"


def table() -> list[str]:
    """One line a kind of input."""
    lines = []
    for record in RECORDS:
        ends = ", ".join(f"{count:,} {name}" for name, count in sorted(record.outcomes.items()))
        memory = f", {record.largest / 1048576:.0f} MiB at the most" if record.largest else ""
        total = sum(record.outcomes.values())
        lines.append(f"{record.name:32} {total:>6,}: {ends}; slowest {record.slowest:.2f} s{memory}")
    return lines
