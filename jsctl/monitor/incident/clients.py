"""Servers that suddenly get many new connections, as of clients that come and go. No I/O."""

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from jsctl.base.units import SECOND, format_exact_duration
from jsctl.monitor.alerts.conditions import name_place
from jsctl.monitor.incident.changes import Change, PlaceView

_ROUNDS = 3
"""Rounds whose new connections are counted together, as clients may connect less than once a round."""

_MIN_NEW = 8
"""New connections in these, fewer are ordinary."""

_TIMES = 5
"""How many times as many as the most of the rounds before."""

_MIN_BEFORE, _MAX_BEFORE = 3, 30
"""Rounds before that have to be known, and that are looked at."""


class _Round(NamedTuple):
    """at, after: ns since 1970, of a round and the one before. new: connections made between them."""

    at: int
    after: int
    new: int


class _Before(NamedTuple):
    """A server in its last round. rounds: the last ones. is_reported: whether they had many new
    connections."""

    at: int
    started: object
    statistics: Mapping[str, Any]
    rounds: deque[_Round]
    is_reported: bool = False


class ClientFinder:
    """Notes how many connections servers get between rounds."""

    def __init__(self) -> None:
        self._before: dict[tuple[str, ...], _Before] = {}

    def find(self, view: PlaceView, at: int) -> Iterator[Change]:
        """Yield the changes that a round shows of a place that answers. at: ns since 1970."""
        for name, statistics in view.statistics.items():
            key, started = (view.context, view.domain, name), statistics.get("start")
            before = self._before.get(key)
            if before is None or before.started != started or at <= before.at:
                self._before[key] = _Before(at, started, statistics, deque(maxlen=_MAX_BEFORE))
                continue
            of = (view.context, view.domain, f"{name_place(view.context, view.domain)}: server {name}")
            new = _count(statistics, "total_connections") - _count(before.statistics, "total_connections")
            before.rounds.append(_Round(at, before.at, new))
            usual, last = [one.new for one in before.rounds][:-_ROUNDS], [*before.rounds][-_ROUNDS:]
            most = max((sum(usual[start : start + _ROUNDS]) for start in range(len(usual))), default=0)
            count = sum(one.new for one in last)
            is_many = len(usual) >= _MIN_BEFORE and count >= max(_MIN_NEW, _TIMES * most)
            if is_many and not before.is_reported:
                began = next(one for one in last if one.new)
                says = _say(last, most, _count(statistics, "connections"))
                yield Change(began.at, began.after, "connections", "note", *of, says)
            self._before[key] = before._replace(at=at, statistics=statistics, is_reported=is_many)


def _say(last: list[_Round], most: int, is_open: int) -> str:
    span = last[-1].at - next(one.after for one in last if one.new)
    within = format_exact_duration(span - span % (SECOND // 10))
    usual = f"at most {most:,} in such a time" if most else "none in the rounds"
    new = sum(one.new for one in last)
    return f"{new:,} new connections within {within}, {usual} before; {is_open:,} are open"


def _count(statistics: Mapping[str, Any], counter: str) -> int:
    return int(statistics.get(counter) or 0)
