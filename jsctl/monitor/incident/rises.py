"""Counts of rounds that suddenly rise. No I/O."""

from collections import deque
from collections.abc import Hashable, Iterable
from typing import NamedTuple

from jsctl.base.units import SECOND, format_exact_duration

_TIMES = 5
"""How many times as many as the most of the rounds before."""

_MIN_BEFORE, MAX_BEFORE = 3, 30
"""Rounds before that have to be known, and that are looked at."""


class Count(NamedTuple):
    """at, after: ns since 1970, of a round and the one before. number: of what happened between them."""

    at: int
    after: int
    number: int


class Rise(NamedTuple):
    """Rounds with far more than before, from the first that has some on. most: in as many rounds before."""

    rounds: list[Count]
    most: int

    @property
    def total(self) -> int:
        """How many there were."""
        return sum(one.number for one in self.rounds)

    def describe(self) -> str:
        """Return within which time: `within 2s, at most 3 in such a time before`."""
        span = self.rounds[-1].at - self.rounds[0].after
        return describe_rise(span, f"{self.most:,} in such a time" if self.most else "")


def describe_rise(span: int, most: str) -> str:
    """Return within which time (ns) something rose, and what it was at most before, empty for nothing."""
    usual = f"at most {most}" if most else "none in the rounds"
    return f"within {format_exact_duration(span - span % (SECOND // 10))}, {usual} before"


class Rises:
    """Notes what is counted in rounds, by key. rounds: that are counted together, as what repeats may do so
    less than once a round. least: fewer in these are ordinary."""

    def __init__(self, rounds: int, least: int) -> None:
        self._rounds, self._least = rounds, least
        self._counts: dict[Hashable, deque[Count]] = {}
        self._risen: set[Hashable] = set()

    def forget(self, key: Hashable) -> None:
        """Begin anew, as what is counted did."""
        self._counts.pop(key, None)
        self._risen.discard(key)

    def add(self, key: Hashable, count: Count, before: Iterable[Count] = ()) -> Rise | None:
        """Return the rise that a further round shows for the first time. before: the rounds before that of a
        key that is new."""
        counts = self._counts.setdefault(key, deque(before, maxlen=MAX_BEFORE))
        counts.append(count)
        usual, last = [one.number for one in counts][: -self._rounds], [*counts][-self._rounds :]
        most = max((sum(usual[start : start + self._rounds]) for start in range(len(usual))), default=0)
        number = sum(one.number for one in last)
        if len(usual) < _MIN_BEFORE or number < max(self._least, _TIMES * most):
            self._risen.discard(key)
            return None
        if key in self._risen:
            return None
        self._risen.add(key)
        return Rise(last[next(index for index, one in enumerate(last) if one.number) :], most)
