"""Conditions on the rows of a report: those of alerts and of `report --fail-on`. No I/O.

One language: an expression (`jetstream.find.expression`) over the keys of a row, perhaps with `for 2m` at its
end.
"""

import math
import re
from collections import UserDict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from jsctl.base.similar_names import find_nearest
from jsctl.base.units import parse_duration
from jsctl.jetstream.find.expression import Condition, compile_expression
from jsctl.jetstream.find.expression_types import check_types
from jsctl.monitor.report.figures.lists import FIGURES, build_recorder, list_figures
from jsctl.monitor.report.places import Place
from jsctl.monitor.report.tracking import Tracker

PHRASES = {"peer_offline": ("REPLICA_OFFLINE",), "no_leader": ("STREAM_NO_LEADER", "CONSUMER_NO_LEADER")}
"""Names that may be written as two words, and the codes of the problems that they stand for."""

_SPANS = {"drains_in": ["replication", "consumers"], "fills_in": ["streams", "accounts"]}
"""Spans in ns until something is empty or full, and the lists that have them."""

_HOLDERS: Mapping[str, Sequence[str]] = {**_SPANS, "dead": ["consumers"], "lag": ["replication", "consumers"]}
"""The lists that have a name which is no figure there."""

_FIGURES = {kind: list_figures(kind, is_screen=True) for kind in FIGURES}
_PLACE = ("context", "domain", "kind")
_NULL_ROW: Mapping[str, Any] = {
    **{figure.key: None for own in _FIGURES.values() for figure in own},
    **dict.fromkeys((*_PLACE, *_HOLDERS, *PHRASES)),
    "trouble": [],
    "codes": [],
    "problems": 0,
}
"""A row without values. Keys that a row does not have are nil in a condition, which is neither less nor more
than anything, so that `fills_in < 1h` is not about what never fills. `lag` is that of copies and
consumers alike."""

_SAMPLES: Mapping[str, Any] = {"natural": 1, "real": 1.0, "ns": 1, "bool": True, "[text]": [""]}
_SAMPLE_ROW: Mapping[str, Any] = {
    **{figure.key: _SAMPLES.get(figure.kind.rstrip("?"), "") for own in _FIGURES.values() for figure in own},
    **dict.fromkeys(_PLACE, ""),
    **dict.fromkeys(_HOLDERS, 1),
    **dict.fromkeys(PHRASES, True),
    "problems": 1,
}
"""A row with a value of the right type for each key, as `check_types` wants it."""

_RECORDERS = {kind: build_recorder(own) for kind, own in _FIGURES.items()}
_LIST_OF = {
    "stream": "streams",
    "mirror": "replication",
    "source": "replication",
    "consumer": "consumers",
    "server": "servers",
    "account": "accounts",
}
"""By the kind of a row."""


class Row(NamedTuple):
    """A row of a report. key: identifies it within its place. values: by name, for a condition."""

    key: tuple[str, ...]
    name: str
    values: Mapping[str, Any]


class TimedCondition(NamedTuple):
    """A condition, and for how many ns it has to hold."""

    condition: Condition
    hold: int = 0


def parse_condition(text: str) -> TimedCondition:
    """Parse `lag > 1000 for 2m`. Raises ValueError."""
    body, hold = text, 0
    if match := re.search(r"\sfor\s+([^\s\"'`]+)\s*$", text):
        body, hold = text[: match.start()], parse_duration(match[1])
        if hold < 0:
            raise ValueError(f"for {match[1]} is negative; use 0s or more")
    condition = compile_expression(body, PHRASES, orders_missing=False)
    if unknown := sorted(condition.names - _NULL_ROW.keys()):
        nearest = find_nearest(unknown[0], [*_NULL_ROW])
        hint = f"did you mean {nearest}?" if nearest else "the keys are those of rows of jsctl report --json"
        raise ValueError(f"unknown name {unknown[0]!r}; {hint}")
    for row in (_SAMPLE_ROW, _NULL_ROW):  # wrong types are found before any row is
        check_types(condition, row)
        condition(row)
    for *_, names, units in condition.comparisons:
        if wrong := sorted(name for name in names & _NULL_ROW.keys() if name in _SPANS and "number" in units):
            raise ValueError(f"{wrong[0]} is a duration; compare it with one, such as 1h")
        numbers = [name for name in names & _NULL_ROW.keys() if name not in _SPANS and name[-3:] != "_ns"]
        if "duration" in units and numbers:
            raise ValueError(f"{min(numbers)} is not a duration; {_list_spans()} are")
        counts = [name for name in names & _NULL_ROW.keys() if not re.search("byte|file|memory", name)]
        if "size" in units and counts:
            raise ValueError(f"{min(counts)} is no number of bytes; leave out the unit")
    return TimedCondition(condition, hold)


def _list_spans() -> str:
    names = [*_SPANS, *sorted(name for name in _NULL_ROW if name.endswith("_ns"))]
    return f"{', '.join(names[:-1])} and {names[-1]}"


# -- what a condition asks for -------------------------------------------------------------------------------


class _Probe(UserDict[str, Any]):
    """A row without values that notes what it is asked for."""

    def __init__(self, kind: str) -> None:
        super().__init__({**_NULL_ROW, "kind": kind})
        self.asked: set[str] = set()

    def __getitem__(self, key: str) -> Any:
        self.asked.add(key)
        return super().__getitem__(key)


def list_holders(condition: Condition) -> Sequence[Sequence[str]]:
    """Return for each figure that an alternative of a condition asks for the lists that have it; and the
    lists of the kinds to which it limits itself, if it does. Raises ValueError as a condition does."""
    keys = {kind: {figure.key for figure in own} for kind, own in _FIGURES.items()}
    holders: list[Sequence[str]] = []
    for part in condition.alternatives:
        holders += [
            _HOLDERS.get(name) or [kind for kind in FIGURES if name in keys[kind]]
            for name in part.names - set(_PLACE)
        ]
        if "kind" in part.names:
            kinds = [_LIST_OF[kind] for kind in _LIST_OF if _reads_kind(part, kind)]
            holders.append(list(dict.fromkeys(kinds)))
    return [lists for lists in holders if lists]


def list_rates(condition: Condition) -> Sequence[str]:
    """Return the names that a condition asks for and that two rounds are needed for."""
    timed = {*_SPANS, "seconds_to_drain", "seconds_to_limit", "event"}
    return sorted(name for name in condition.names if name.endswith("_rate") or name in timed)


def _reads_kind(condition: Condition, kind: str) -> bool:
    """Return whether a condition asks a row of a kind for more than where and what it is."""
    probe = _Probe(kind)
    return condition(probe) or not probe.asked <= set(_PLACE)


# -- the rows of a place -------------------------------------------------------------------------------------


def name_place(context: str, domain: str) -> str:
    """Return what a place is called where several are: its context and its domain, as far as it has them."""
    return " ".join(word for word in (context, domain) if word)


def list_rows(place: Place) -> Iterator[Row]:
    """Yield every stream, mirror, source, consumer, server and account of a place, and its login if something
    is wrong with it."""
    where = {"context": place.context, "domain": place.domain}
    prefix = name_place(place.context, place.domain)
    tracker = place.tracker

    def build(kind: str, key: Sequence[str], name: str, line: Any) -> Row:
        record = _RECORDERS[_LIST_OF[kind]](line)
        values = {**_NULL_ROW, **record, **where, "kind": kind, "problems": len(record["trouble"])}
        return Row((kind, *key), f"{prefix}: {name}", values | _compute_more(kind, line, values))

    if tracker.login:
        words = {"trouble": [t.words for t in tracker.login], "codes": [t.code for t in tracker.login]}
        values = {**_NULL_ROW, **where, **words, "kind": "login", "problems": len(tracker.login)}
        yield Row(("login",), f"{prefix}: login", values)
    for line in tracker.streams or ():
        name = line.row.stream
        yield build("stream", [name], f"stream {name}", line)
    for link in tracker.links or ():
        row = link.row
        key = [row.stream, row.origin, row.api_prefix, row.filters]
        yield build(row.kind, key, f"{row.kind} {row.origin} of stream {row.stream}", link)
    for one in tracker.consumers or ():
        key = [one.stream, one.consumer]
        yield build("consumer", key, f"consumer {one.stream} > {one.consumer}", one)
    for server in tracker.servers or ():
        yield build("server", [server.server], f"server {server.server}", server)
    for account in tracker.accounts or ():
        tier = f" tier {account.tier}" if account.tier else ""
        yield build("account", [account.tier], f"account{tier}", account)


def _compute_more(kind: str, line: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that are no figures of a list."""
    more: dict[str, Any] = {
        name: any(code in codes for code in values["codes"]) for name, codes in PHRASES.items()
    }
    if kind in ("stream", "account"):
        more["fills_in"] = line.limit
    if kind in ("mirror", "source", "consumer"):
        more["lag"] = lag = values["lag_messages"]
        slope = line.trend.slope
        never = math.inf if slope is not None and slope >= 0 else None
        more["drains_in"] = lag if not lag else never if line.drain is None else line.drain
    if kind == "consumer":
        more["dead"] = sum(
            int(re.sub(r"\D", "", trouble.words) or 1)  # `3 given up`; `messages given up` is one or more
            for trouble in line.troubles
            if trouble.code == "GIVEN_UP"
        )
    return more


def find_unknown_parts(tracker: Tracker) -> Mapping[str, str]:
    """Return why the lists of a place are not known, by list; what a flag left out is not among them."""
    parts = {"account": "accounts", "origins": "replication"}
    return {parts.get(gap.part, gap.part): gap.why for gap in tracker.gaps if not gap.is_chosen}


def format_value(value: Any) -> Any:
    """Return a value of a row for JSON: what never ends is null."""
    return None if isinstance(value, float) and math.isinf(value) else value
