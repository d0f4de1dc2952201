"""Counts of times by size: any number of them in little memory, exact to less than one percent."""

from collections.abc import Iterable, Mapping
from math import ceil, sqrt
from typing import Any

PERCENTILES = (50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99)

_BITS = 7
"""Bits of a value that are kept: 128 steps from one power of two to the next."""


class Histogram:
    """Counts of how often each span of time, in ns, was seen."""

    __slots__ = ("_counts", "_fresh", "_largest", "_smallest", "_squares", "_total")

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}
        self._fresh: list[int] = []
        self._total = self._largest = 0
        self._smallest = -1
        self._squares = 0

    def add(self, span: int) -> None:
        """Record a span of ns."""
        self._fresh.append(span)
        if len(self._fresh) >= 8192:
            self._sort_in()

    def add_many(self, spans: Iterable[int]) -> None:
        """Record spans of ns."""
        self._fresh.extend(spans)
        if len(self._fresh) >= 8192:
            self._sort_in()

    def _sort_in(self) -> None:
        fresh, self._fresh = self._fresh, []
        if not fresh:
            return
        counts = self._counts
        for span in fresh:
            place = _place(span)
            counts[place] = counts.get(place, 0) + 1
        least = min(fresh)
        self._smallest = least if self._smallest < 0 else min(self._smallest, least)
        self._largest = max(self._largest, *fresh) if len(fresh) > 1 else max(self._largest, fresh[0])
        self._total += sum(fresh)
        self._squares += sum([span * span for span in fresh])

    def clear(self) -> None:
        """Reset all counts."""
        self.__init__()  # type: ignore[misc]

    def merge(self, other: "Histogram") -> None:
        """Add the counts of another histogram."""
        self._sort_in()
        other._sort_in()
        for place, count in other._counts.items():
            self._counts[place] = self._counts.get(place, 0) + count
        known = [least for least in (self._smallest, other._smallest) if least >= 0]
        self._smallest = min(known, default=-1)
        self._largest = max(self._largest, other._largest)
        self._total += other._total
        self._squares += other._squares

    def __len__(self) -> int:
        self._sort_in()
        return sum(self._counts.values())

    @property
    def smallest(self) -> int:
        """The shortest in ns, 0 without any."""
        self._sort_in()
        return max(self._smallest, 0)

    @property
    def largest(self) -> int:
        """The longest in ns, 0 without any."""
        self._sort_in()
        return self._largest

    @property
    def mean(self) -> int:
        """The average in ns, 0 without any."""
        count = len(self)
        return self._total // count if count else 0

    @property
    def deviation(self) -> int:
        """The standard deviation in ns."""
        count = len(self)
        return int(sqrt(max(self._squares / count - (self._total / count) ** 2, 0))) if count else 0

    def percentile(self, share: float) -> int:
        """Return the span in ns that `share` percent of all spans do not exceed."""
        count = len(self)
        target = max(ceil(count * share / 100 - 1e-9), 1)
        seen = 0
        for place in sorted(self._counts):
            seen += self._counts[place]
            if seen >= target:
                if seen == count and target == count:
                    return self._largest
                return min(max(_value(place), self._smallest), self._largest)
        return 0

    def buckets(self) -> list[list[int]]:
        """Return the counts: pairs of ns and how many, the shortest first."""
        self._sort_in()
        return [[_value(place), self._counts[place]] for place in sorted(self._counts)]

    def record(self) -> dict[str, Any]:
        """Return the figures as a JSON object."""
        self._sort_in()
        return {
            "count": len(self),
            "min_ns": self.smallest,
            "mean_ns": self.mean,
            "max_ns": self._largest,
            "stddev_ns": self.deviation,
            "percentiles_ns": {f"{share:g}": self.percentile(share) for share in PERCENTILES},
            "histogram_ns": self.buckets(),
        }


def read_percentiles(document: Mapping[str, Any]) -> dict[str, int]:
    """Return the percentiles of a `record`, by their text."""
    return {str(share): int(span) for share, span in document.get("percentiles_ns", {}).items()}


def _place(span: int) -> int:
    """Return the number of a span's bucket."""
    extra = span.bit_length() - _BITS
    if extra <= 0:
        return max(span, 0)
    return (extra << _BITS) + (span >> extra)


def _value(place: int) -> int:
    """Return the middle of a bucket in ns."""
    extra, rest = divmod(place, 1 << _BITS)
    if extra == 0:
        return place
    return (rest << extra) + (1 << (extra - 1))
