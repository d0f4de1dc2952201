"""Servers whose answers suddenly take far longer, as over a slow link. No I/O."""

from collections import deque
from collections.abc import Iterator
from statistics import median
from typing import NamedTuple

from jsctl.base.units import SECOND, format_exact_duration
from jsctl.monitor.incident.changes import SLOW, Change, PlaceView

_MIN_RTT = SECOND // 20
"""ns, answers in less are fast."""

_TIMES = 5
"""How many times as long as half of the answers before."""

_SLOW_ROUNDS, _MIN_ROUNDS, _MAX_ROUNDS = 3, 5, 30
"""Rounds in which all answers are slow; rounds before that have to be known, and that are looked at."""


class _Server(NamedTuple):
    """A server. at: of its last round, ns since 1970. usual: the times of its answers before. slow: the round
    before, the round and the time of each answer that is slow up to now. is_reported: whether that was
    reported."""

    at: int
    usual: deque[int]
    slow: list[tuple[int, int, int]]
    is_reported: bool = False


class AnswerTimes:
    """Notes how long answers of servers take, in the rounds so far."""

    def __init__(self) -> None:
        self._servers: dict[tuple[str, ...], _Server] = {}

    def find(self, view: PlaceView, at: int) -> Iterator[Change]:
        """Yield the servers whose answers take far longer since some rounds, or as long as before again. at:
        ns since 1970."""
        for name, known in view.statistics.items():
            row, rtt = view.rows.get(("server", name)), known.get("rtt")
            if row is None or rtt is None:  # older recordings have none
                continue
            of = (view.context, view.domain, row.name)
            server = self._servers.get(of, _Server(at, deque(maxlen=_MAX_ROUNDS), []))
            usual = int(median(server.usual)) if server.usual else 0
            is_slow = len(server.usual) >= _MIN_ROUNDS and rtt >= max(_MIN_RTT, _TIMES * usual)
            slow = [*server.slow, (server.at, at, rtt)] if is_slow else []
            key = "\x1f".join((SLOW, *of))
            if len(slow) == _SLOW_ROUNDS:
                after, begin, _ = slow[0]
                words = f"answers after {_show(min(each for *_, each in slow))}, {_show(usual)} before"
                yield Change(begin, after, SLOW, "note", *of, words, key=key)
            if server.is_reported and not slow:
                words = f"answers after {_show(rtt)} again"
                yield Change(at, server.at, f"{SLOW} ended", "good", *of, words, key=key)
            if not slow:
                server.usual.append(rtt)
            self._servers[of] = _Server(at, server.usual, slow, len(slow) >= _SLOW_ROUNDS)


def _show(span: int) -> str:
    return format_exact_duration(max(span - span % 1_000_000, 1_000_000))
