"""A histogram of durations: any number of them in little memory, with an error below one percent."""

from collections.abc import Iterable, Mapping
from math import ceil, sqrt
from typing import Any

PERCENTILES = (50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99)

_BITS = 7
"""Significant bits of a value that are kept: 128 steps from one power of two to the next."""


class Histogram:
    """Counts of how often each duration, in ns, occurred."""

    __slots__ = ("_counts", "_largest", "_pending", "_smallest", "_squares", "_total")

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}
        self._pending: list[int] = []
        self._total = self._largest = 0
        self._smallest = -1
        self._squares = 0

    def add(self, span: int) -> None:
        """Record a span of ns."""
        self._pending.append(span)
        if len(self._pending) >= 8192:
            self._count_pending()

    def add_many(self, spans: Iterable[int]) -> None:
        """Record spans of ns."""
        self._pending.extend(spans)
        if len(self._pending) >= 8192:
            self._count_pending()

    def _count_pending(self) -> None:
        pending, self._pending = self._pending, []
        if not pending:
            return
        counts = self._counts
        for span in pending:
            bucket = _find_bucket(span)
            counts[bucket] = counts.get(bucket, 0) + 1
        smallest = min(pending)
        self._smallest = smallest if self._smallest < 0 else min(self._smallest, smallest)
        self._largest = max(self._largest, *pending) if len(pending) > 1 else max(self._largest, pending[0])
        self._total += sum(pending)
        self._squares += sum([span * span for span in pending])

    def clear(self) -> None:
        """Reset all counts."""
        self.__init__()  # type: ignore[misc]

    def merge(self, other: "Histogram") -> None:
        """Add the counts of another histogram."""
        self._count_pending()
        other._count_pending()
        for place, count in other._counts.items():
            self._counts[place] = self._counts.get(place, 0) + count
        smallest_spans = [span for span in (self._smallest, other._smallest) if span >= 0]
        self._smallest = min(smallest_spans, default=-1)
        self._largest = max(self._largest, other._largest)
        self._total += other._total
        self._squares += other._squares

    def __len__(self) -> int:
        self._count_pending()
        return sum(self._counts.values())

    @property
    def smallest(self) -> int:
        """The shortest duration in ns; 0 if empty."""
        self._count_pending()
        return max(self._smallest, 0)

    @property
    def largest(self) -> int:
        """The longest duration in ns; 0 if empty."""
        self._count_pending()
        return self._largest

    @property
    def mean(self) -> int:
        """The average duration in ns; 0 if empty."""
        count = len(self)
        return self._total // count if count else 0

    @property
    def deviation(self) -> int:
        """The standard deviation in ns."""
        count = len(self)
        return int(sqrt(max(self._squares / count - (self._total / count) ** 2, 0))) if count else 0

    def compute_percentile(self, share: float) -> int:
        """Return the duration in ns that `share` percent of all durations do not exceed."""
        count = len(self)
        target = max(ceil(count * share / 100 - 1e-9), 1)
        cumulative = 0
        for place in sorted(self._counts):
            cumulative += self._counts[place]
            if cumulative >= target:
                if cumulative == count and target == count:
                    return self._largest
                return min(max(_compute_middle(place), self._smallest), self._largest)
        return 0

    def list_buckets(self) -> list[list[int]]:
        """Return the counts: pairs of ns and number, the shortest first."""
        self._count_pending()
        return [[_compute_middle(place), self._counts[place]] for place in sorted(self._counts)]

    def record(self) -> dict[str, Any]:
        """Return the figures as a JSON object."""
        self._count_pending()
        return {
            "count": len(self),
            "min_ns": self.smallest,
            "mean_ns": self.mean,
            "max_ns": self._largest,
            "stddev_ns": self.deviation,
            "percentiles_ns": {f"{share:g}": self.compute_percentile(share) for share in PERCENTILES},
            "histogram_ns": self.list_buckets(),
        }


def read_percentiles(document: Mapping[str, Any]) -> dict[str, int]:
    """Return the percentiles of a `record`, by their text."""
    return {str(share): int(span) for share, span in document.get("percentiles_ns", {}).items()}


def _find_bucket(span: int) -> int:
    """Return the number of a span's bucket."""
    extra = span.bit_length() - _BITS
    if extra <= 0:
        return max(span, 0)
    return (extra << _BITS) + (span >> extra)


def _compute_middle(place: int) -> int:
    """Return the middle of a bucket in ns."""
    extra, remainder = divmod(place, 1 << _BITS)
    if extra == 0:
        return place
    return (remainder << extra) + (1 << (extra - 1))
