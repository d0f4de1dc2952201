"""A histogram of durations: any number of them in little memory, with an error below one percent.

Its buckets are those of HDR histograms with two significant digits, whose V2 format `encode` writes. The
package `hdrhistogram` would take 2.6 times as long to record a span, brings setuptools, and has no wheel for
Windows; a test reads with it what is written here.
"""

import base64
import struct
import zlib
from collections.abc import Iterable, Mapping
from math import ceil, sqrt
from typing import Any

PERCENTILES = (50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99)

_DIGITS = 2
_HALF_BITS = 7
"""Each power of two has 128 buckets of equal width, so that two digits are kept; values below 256 have their
own."""

_COOKIE, _COMPRESSED_COOKIE = 0x1C849313, 0x1C849314  #: of the V2 encoding, plain and compressed
_LARGEST = 3600 * 10**9  #: ns that readers reserve buckets for, unless a value is larger


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
                return min(_find_bounds(place)[1], self._largest)
        return 0

    def list_buckets(self) -> list[list[int]]:
        """Return the counts: pairs of ns and number, the shortest first."""
        self._count_pending()
        return [[sum(_find_bounds(place)) // 2, self._counts[place]] for place in sorted(self._counts)]

    def encode(self) -> str:
        """Return the counts as text in the compressed V2 format of HDR histograms, in ns."""
        self._count_pending()
        numbers, next_place = bytearray(), 0
        for place in sorted(self._counts):
            gap = place - next_place
            if gap:  # a run of empty buckets is a negative number, unless it is one
                numbers += _encode_number(-gap if gap > 1 else 0)
            numbers += _encode_number(self._counts[place])
            next_place = place + 1
        highest = max(self._largest, _LARGEST)
        plain = struct.pack(">iiiiqqd", _COOKIE, len(numbers), 0, _DIGITS, 1, highest, 1.0) + numbers
        packed = zlib.compress(plain)
        return base64.b64encode(struct.pack(">ii", _COMPRESSED_COOKIE, len(packed)) + packed).decode()

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
            "histogram_hdr": self.encode(),
        }


def read_percentiles(document: Mapping[str, Any]) -> dict[str, int]:
    """Return the percentiles of a `record`, by their text."""
    return {str(share): int(span) for share, span in document.get("percentiles_ns", {}).items()}


def _find_bucket(span: int) -> int:
    """Return the number of a span's bucket."""
    extra = span.bit_length() - _HALF_BITS - 1
    if extra <= 0:
        return max(span, 0)
    return (extra << _HALF_BITS) + (span >> extra)


def _find_bounds(place: int) -> tuple[int, int]:
    """Return the shortest and the longest span of a bucket in ns."""
    extra = max((place >> _HALF_BITS) - 1, 0)
    lowest = (place - (extra << _HALF_BITS)) << extra
    return lowest, lowest + (1 << extra) - 1


def _encode_number(number: int) -> bytes:
    """Return a number in the ZigZag LEB128 format."""
    rest = number << 1 if number >= 0 else -number * 2 - 1
    encoded = bytearray()
    while rest > 127:
        encoded.append(rest & 127 | 128)
        rest >>= 7
    encoded.append(rest)
    return bytes(encoded)
