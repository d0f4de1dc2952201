"""Streams into which suddenly far more is published. No I/O."""

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from jsctl.base.units import SECOND, format_exact_duration
from jsctl.monitor.incident.changes import Change, PlaceView

_MIN_MESSAGES = 1_000
"""Messages stored between two rounds, fewer are no burst."""

_TIMES = 10
"""How many times as much as the most of the rounds before."""

_MIN_ROUNDS, _MAX_ROUNDS = 5, 30
"""Rounds before that have to be known, and that are looked at."""


class _Before(NamedTuple):
    """A stream in its last round. rates: messages per second between the last rounds."""

    created: object
    at: int
    last_seq: int
    rates: deque[float]


class BurstFinder:
    """Notes what streams stored between rounds, to find bursts."""

    def __init__(self) -> None:
        self._before: dict[tuple[str, ...], _Before] = {}

    def find(self, view: PlaceView, at: int) -> Iterator[Change]:
        """Yield the bursts that a round shows of a place that answers. at: ns since 1970."""
        for key, row in view.rows.items():
            if key[0] != "stream" or row.values["offline"]:
                continue
            full_key, last_seq, created = (
                (view.context, view.domain, *key),
                row.values["last_seq"],
                row.values["created"],
            )
            before = self._before.get(full_key)
            if before is None or before.created != created or last_seq < before.last_seq or at <= before.at:
                self._before[full_key] = _Before(created, at, last_seq, deque(maxlen=_MAX_ROUNDS))
                continue
            count, span, rates = last_seq - before.last_seq, at - before.at, before.rates
            rate, most = count * SECOND / span, max(rates, default=0.0)
            if count >= _MIN_MESSAGES and len(rates) >= _MIN_ROUNDS and rate >= _TIMES * most:
                within = format_exact_duration(span - span % (SECOND // 10))
                usual = f"at most {most:,.0f} a second" if most else "none in the rounds"
                says = f"stored {count:,} messages within {within}, {usual} before"
                yield Change(at, before.at, "burst", "note", view.context, view.domain, row.name, says)
            rates.append(rate)
            self._before[full_key] = _Before(created, at, last_seq, rates)
