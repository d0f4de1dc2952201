"""Servers that suddenly get many new connections, or whose answers suddenly take far longer. No I/O."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import median

from jsctl.base.units import SECOND, format_exact_duration
from jsctl.monitor.alerts.conditions import name_place
from jsctl.monitor.incident.changes import SLOW, Change, PlaceView
from jsctl.monitor.incident.consumers import Level
from jsctl.monitor.incident.rises import Count, Rises

_ROUNDS, _MIN_NEW = 3, 8
"""Rounds whose new connections are counted together, and how many of them fewer are ordinary."""

_MIN_RTT = SECOND // 20
"""ns, answers in less are fast."""

_LONG = SECOND // 4
"""ns from which answers are no longer those of a server that is busy."""

_TIMES = 5
"""How many times as long as half of the answers before."""

_SLOW_ROUNDS, _MIN_ROUNDS, _MAX_ROUNDS = 3, 5, 30
"""Rounds in which all answers are slow; rounds before that have to be known, and that are looked at."""


@dataclass(slots=True)
class _Server:
    """A server in its last round. at: ns since 1970. usual: the times of its answers, slow ones left out.
    slow: the round before, the round and the time of each answer that is slow up to now."""

    at: int
    started: object = None
    total: int = 0
    usual: deque[int] = field(default_factory=lambda: deque(maxlen=_MAX_ROUNDS))
    slow: list[tuple[int, int, int]] = field(default_factory=list)


class ServerFinder:
    """Notes what servers count and how long their answers take, in the rounds so far."""

    def __init__(self) -> None:
        self._servers: dict[tuple[str, ...], _Server] = {}
        self._rises = Rises(_ROUNDS, _MIN_NEW)

    def find(self, view: PlaceView, at: int) -> Iterator[Change]:
        """Yield the changes that a round shows. at: ns since 1970."""
        for name, statistics in view.statistics.items():
            of = (view.context, view.domain, f"{name_place(view.context, view.domain)}: server {name}")
            server = self._servers.setdefault(of, _Server(at))
            if (rtt := statistics.get("rtt")) is not None and ("server", name) in view.rows:
                yield from _find_slow(server, of, at, rtt)
            total, started = int(statistics.get("total_connections") or 0), statistics.get("start")
            if not view.outage and (server.started != started or at <= server.at):
                self._rises.forget(of)
            elif not view.outage and (
                rise := self._rises.add(of, Count(at, server.at, total - server.total))
            ):
                says = f"{rise.total:,} new connections {rise.describe()};"
                says += f" {int(statistics.get('connections') or 0):,} are open"
                yield Change(*rise.rounds[0][:2], "connections", "note", *of, says)
            server.at, server.started, server.total = at, started, total


def _find_slow(server: _Server, of: tuple[str, str, str], at: int, rtt: int) -> Iterator[Change]:
    usual = int(median(server.usual)) if server.usual else 0
    was_reported, key = len(server.slow) >= _SLOW_ROUNDS, "\x1f".join((SLOW, *of))
    if len(server.usual) >= _MIN_ROUNDS and rtt >= max(_MIN_RTT, _TIMES * usual):
        server.slow.append((server.at, at, rtt))
        if len(server.slow) == _SLOW_ROUNDS:
            after, begin, _ = server.slow[0]
            least = min(each for *_, each in server.slow)
            words, level = f"answers after {_show(least)}, {_show(usual)} before", _rate(least)
            yield Change(begin, after, SLOW, level, *of, words, key=key)
        return
    if was_reported:
        yield Change(
            at, server.at, f"{SLOW} ended", "good", *of, f"answers after {_show(rtt)} again", key=key
        )
    server.slow.clear()
    server.usual.append(rtt)


def _rate(least: int) -> Level:
    return "warning" if least >= _LONG else "note"


def _show(span: int) -> str:
    return format_exact_duration(max(span - span % 1_000_000, 1_000_000))
