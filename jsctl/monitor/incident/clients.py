"""Clients that do not come back, and clients that come and go. No I/O."""

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from jsctl.monitor.incident.advised import Advised, parse_advised
from jsctl.monitor.incident.rises import MAX_BEFORE, Count, Rises
from jsctl.monitor.report.advisories import CONNECTED, DISCONNECTED
from jsctl.monitor.report.round_json import PlaceRound

_ROUNDS, _MIN_TIMES = 4, 3
"""Rounds in which short connections are counted together, and how many of them fewer are ordinary."""

_WAIT = 2
"""Rounds after a long connection in which a client connects again, as one that is restarted does."""

_Key = tuple[str, ...]


class _Gone(NamedTuple):
    """A client whose long connection has ended. number: of the round that told it."""

    advised: Advised
    number: int


class ClientFinder:
    """Notes the connections of clients that ended by themselves. Those of one user and name are one client,
    on whatever host, as a service runs several times and is moved."""

    def __init__(self) -> None:
        self._rises = Rises(_ROUNDS, _MIN_TIMES)
        self._rounds: dict[_Key, deque[Count]] = {}
        self._numbers: dict[_Key, int] = {}
        self._last: dict[_Key, int] = {}  #: the round of the last end, by client
        self._ends: dict[_Key, dict[int, Advised]] = {}  #: the first end of each round, by client
        self._gone: dict[_Key, _Gone] = {}

    def find(self, place: PlaceRound, after: int, at: int) -> Iterator[Advised]:
        """Yield what is told of the advisories of a round, in which those of clients that come and go are
        one, and of rounds before about which it decides. after, at: of the rounds around it, ns since
        1970."""
        here = (place.context, place.domain)
        number = self._numbers[here] = self._numbers.get(here, 0) + 1
        short: dict[_Key, int] = {}
        connected: set[_Key] = set()
        for entry in place.advisories or ():
            advised = parse_advised(entry, place.context, place.domain, after, at)
            key = (*here, *(str(entry["facts"].get(word)) for word in ("account", "user", "client")))
            if entry["facts"].get("is_leaf") and not entry["facts"].get("client"):
                continue  # its own side, of which the other one tells
            if entry["kind"] == CONNECTED and not entry["facts"].get("is_leaf"):
                connected.add(key)
            elif entry["kind"] != DISCONNECTED or advised.level != "note":
                yield advised
            elif not entry["facts"].get("is_long"):
                short[key] = short.get(key, 0) + int(entry["count"])
                self._ends.setdefault(key, {}).setdefault(at, advised)
            elif key not in self._last:
                self._gone[key] = _Gone(advised, number)
                self._last[key] = number
        yield from self._find_rises(here, short, Count(at, after, 0), number)
        yield from self._find_gone(here, connected, number)

    def find_rest(self) -> Iterator[Advised]:
        """Yield the clients that have not come back up to the end."""
        yield from (gone.advised for gone in self._gone.values())

    def _find_rises(self, here: _Key, short: dict[_Key, int], count: Count, number: int) -> Iterator[Advised]:
        before = self._rounds.setdefault(here, deque(maxlen=MAX_BEFORE))
        self._last |= dict.fromkeys(short, number)
        for key, last in [*self._last.items()]:
            if key[: len(here)] != here:
                continue
            if number - last > MAX_BEFORE:
                del self._last[key]
                self._ends.pop(key, None)
                self._rises.forget(key)
            elif rise := self._rises.add(key, count._replace(number=short.get(key, 0)), before):
                says = f"came and went {rise.total:,} times {rise.describe()}"
                yield self._ends[key][rise.rounds[0].at]._replace(kind="connections", says=says)
        before.append(count)

    def _find_gone(self, here: _Key, connected: set[_Key], number: int) -> Iterator[Advised]:
        for key, gone in [*self._gone.items()]:
            if key in connected:
                del self._gone[key]
            elif key[: len(here)] == here and number - gone.number >= _WAIT:
                del self._gone[key]
                yield gone.advised
