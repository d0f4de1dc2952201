"""The limits of a batch of a streaming query: how many new messages it admits."""

from collections.abc import Mapping
from typing import NamedTuple

from jsctl.spark.source.plan import StreamState

_MAX_SEGMENTS = 1000


class _Segment(NamedTuple):
    """Sequences [start, end), which have `size` bytes in all."""

    start: int
    end: int
    size: int


class Sizes:
    """Estimates of the sizes of a stream's messages.

    A server reports only how many bytes a whole stream has. Its growth between two polls is the size of the
    messages that arrived in between; all others are assumed to have the average size of the remainder.
    """

    def __init__(self) -> None:
        self._last: StreamState | None = None
        self._segments: list[_Segment] = []

    def record_state(self, stream: StreamState) -> None:
        """Record a stream's state."""
        last, self._last = self._last, stream
        if last is None or last.created != stream.created:
            self._segments = []
        elif (last.first, last.deleted) == (stream.first, stream.deleted) and stream.end > last.end:
            self._segments.append(_Segment(last.end, stream.end, stream.bytes - last.bytes))
            del self._segments[:-_MAX_SEGMENTS]

    def estimate(self, begin: int, end: int) -> int:
        """Return the estimated bytes of the sequences [begin, end)."""
        return round(sum(size for _, _, size in self._split_pieces(begin, end)))

    def fit(self, begin: int, end: int, budget: int) -> int:
        """Return the end of as many sequences of [begin, end) as have about `budget` bytes, but at least
        one."""
        remaining = float(budget)
        for first, last, size in self._split_pieces(begin, end):
            if size > remaining:
                return max(first + int((last - first) * remaining / size), begin + 1)
            remaining -= size
        return end

    def _split_pieces(self, begin: int, end: int) -> list[tuple[int, int, float]]:
        """Split [begin, end) into pieces (start, end, bytes)."""
        average = self._compute_average()
        pieces: list[tuple[int, int, float]] = []
        at = begin
        for start, stop, size in self._segments:
            first, last = max(start, at), min(stop, end)
            if first >= last:
                continue
            if first > at:
                pieces.append((at, first, (first - at) * average))
            pieces.append((first, last, size * (last - first) / (stop - start)))
            at = last
        if at < end:
            pieces.append((at, end, (end - at) * average))
        return pieces

    def _compute_average(self) -> float:
        """Return the average bytes of a sequence that no segment covers."""
        if self._last is None:
            return 1.0
        count, size = self._last.end - self._last.first, self._last.bytes
        for segment in self._segments:
            if segment.start >= self._last.first:
                count -= segment.end - segment.start
                size -= segment.size
        if count <= 0:
            count, size = max(1, self._last.end - self._last.first), self._last.bytes
        return max(1.0, size / count)


def limit_ends(
    available: Mapping[str, tuple[int, int]], sizes: Mapping[str, Sizes], max_rows: int, max_bytes: int
) -> dict[str, int]:
    """Return the end of the next batch in each stream.

    Args: available: the sequences [begin, end) that each stream has. max_rows, max_bytes: for all streams
    together; 0 for no limit. Streams share them in proportion to what they have, and each advances.
    """
    rows = sum(end - begin for begin, end in available.values())
    size = sum(sizes[name].estimate(*span) for name, span in available.items()) if max_bytes else 0
    ends = {}
    for name, (begin, last) in available.items():
        end = last
        if max_rows and rows > max_rows and last > begin:
            end = begin + max(1, (last - begin) * max_rows // rows)
        if max_bytes and size > max_bytes and last > begin:
            share = sizes[name].estimate(begin, last) * max_bytes // size
            end = min(end, sizes[name].fit(begin, last, share))
        ends[name] = end
    return ends
