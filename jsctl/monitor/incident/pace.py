"""Streams into which suddenly far more is published, or nothing any more. No I/O."""

from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

from jsctl.base.units import SECOND, format_bytes
from jsctl.monitor.alerts.conditions import Row
from jsctl.monitor.incident.changes import QUIET, Change, PlaceView
from jsctl.monitor.incident.rises import describe_rise

_MIN_MESSAGES, _MIN_BYTES = 1_000, 1 << 20
"""Messages and bytes stored between two rounds, fewer of both are no burst."""

_TIMES = 10
"""How many times as much as the most of the rounds before."""

_MIN_ROUNDS, _MAX_ROUNDS = 3, 30
"""Rounds before that have to be known, and that are looked at."""

BUSY, _QUIET = 6, 4
"""Rounds that all have messages, and then rounds that have none, from which a stream is quiet."""


class _Before(NamedTuple):
    """A stream in its last round. rates, sizes: messages and bytes per second between the last rounds. quiet:
    rounds without messages up to this one; since: the first of them, and the one before it, in ns since 1970.
    is_reported: whether that was a change."""

    created: object
    at: int
    last_seq: int
    bytes: int
    rates: deque[float]
    sizes: deque[float]
    quiet: int = 0
    since: tuple[int, int] = (0, 0)
    is_reported: bool = False


class PaceFinder:
    """Notes what streams store between rounds, to find bursts and streams that became quiet."""

    def __init__(self) -> None:
        self._before: dict[tuple[str, ...], _Before] = {}

    def find(self, view: PlaceView, at: int) -> Iterator[Change]:
        """Yield the changes that a round shows of a place that answers, those of copies last. at: ns since
        1970."""
        copies = {key[1] for key in view.rows if key[0] in ("mirror", "source")}
        for key, row in sorted(view.rows.items(), key=lambda one: one[0][-1] in copies):
            if key[0] != "stream" or row.values["offline"]:
                continue
            full_key = (view.context, view.domain, *key)
            last_seq, size, created = row.values["last_seq"], row.values["bytes"], row.values["created"]
            before = self._before.get(full_key)
            if before is None or before.created != created or last_seq < before.last_seq or at <= before.at:
                rates, sizes = (deque[float](maxlen=_MAX_ROUNDS) for _ in range(2))
                self._before[full_key] = _Before(created, at, last_seq, size, rates, sizes)
                continue
            now = _follow(before, at, last_seq)._replace(bytes=size)
            yield from _compare(view, row, before, now)
            for values, stored in zip((now.rates, now.sizes), _count_stored(before, now), strict=True):
                values.append(stored * SECOND / (now.at - before.at))
            self._before[full_key] = now


def _follow(before: _Before, at: int, last_seq: int) -> _Before:
    """Return the stream in the next round; its rate is not among the last ones yet."""
    if last_seq > before.last_seq:
        return before._replace(at=at, last_seq=last_seq, quiet=0, is_reported=False)
    quiet = before.quiet + 1
    since = before.since if before.quiet else (at, before.at)
    is_reported = before.is_reported or (quiet == _QUIET and len(_list_busy(before)) == BUSY)
    return before._replace(at=at, quiet=quiet, since=since, is_reported=is_reported)


def _list_busy(before: _Before) -> list[float]:
    """Return the rates of the rounds before the quiet ones, those without messages left out."""
    return [rate for rate in islice(reversed(before.rates), _QUIET - 1, _QUIET - 1 + BUSY) if rate]


def _count_stored(before: _Before, now: _Before) -> tuple[int, int]:
    """Return messages and bytes; of those that a stream at its limits removed meanwhile, less."""
    return now.last_seq - before.last_seq, max(0, now.bytes - before.bytes)


def _compare(view: PlaceView, row: Row, before: _Before, now: _Before) -> Iterator[Change]:
    span, rates = now.at - before.at, before.rates
    of = (view.context, view.domain, row.name)
    key = "\x1f".join((QUIET, *of))
    kinds: tuple[tuple[int, deque[float], str, Callable[[float], str]], ...] = (
        (_MIN_MESSAGES, rates, " messages", lambda number: f"{number:,.0f}"),
        (_MIN_BYTES, before.sizes, "", lambda number: format_bytes(round(number))),
    )
    for count, (least, usual, unit, show) in zip(_count_stored(before, now), kinds, strict=True):
        most = max(usual, default=0.0)
        if count >= least and len(usual) >= _MIN_ROUNDS and count * SECOND / span >= _TIMES * most:
            usually = f"{show(most)} a second" if most else ""
            says = f"stored {show(count)}{unit} {describe_rise(span, usually)}"
            yield Change(now.at, before.at, "burst", "note", *of, says)
            break
    if now.is_reported and not before.is_reported:
        says = (
            f"stores no messages any more, {sum(rates) / (len(rates) - now.quiet + 1):,.1f} a second before"
        )
        yield Change(*now.since, QUIET, "note", *of, says, key=key)
    if before.is_reported and not now.is_reported:
        yield Change(now.at, before.at, f"{QUIET} ended", "good", *of, "stores messages again", key=key)
