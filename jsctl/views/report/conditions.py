"""Rows of `jsctl report` that meet a condition: `--fail-on`."""

from collections import UserDict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jsctl.jetstream.find.expression import Condition
from jsctl.monitor.report.figures.lists import FIGURES, list_figures

_KEYS = (figure.key for kind in FIGURES for figure in list_figures(kind))
_PLACE = ("context", "domain", "kind")
_NULL_ROW: Mapping[str, Any] = {
    **dict.fromkeys((*_KEYS, *_PLACE)),
    "trouble": [],
    "codes": [],
    "problems": 0,
}
"""A row without values. Keys that a row does not have are nil in a condition: `lag > 1000` is false for every
consumer. `lag_messages` is the lag of mirrors, sources and consumers alike."""


_LIST_OF = {
    "stream": "streams",
    "mirror": "replication",
    "source": "replication",
    "consumer": "consumers",
    "server": "servers",
    "account": "accounts",
}
"""By the kind of a row."""


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
    keys = {kind: {figure.key for figure in own} for kind, own in FIGURES.items()}
    holders = []
    for part in condition.alternatives:
        holders += [[kind for kind in FIGURES if name in keys[kind]] for name in part.names - set(_PLACE)]
        if "kind" in part.names:
            kinds = [_LIST_OF[kind] for kind in _LIST_OF if _looks_at(part, kind)]
            holders.append(list(dict.fromkeys(kinds)))
    return [lists for lists in holders if lists]


def list_rates(condition: Condition) -> Sequence[str]:
    """Return the figures that a condition asks for and that two rounds are needed for."""
    return sorted(name for name in condition.names if name.endswith("_rate"))


def _looks_at(condition: Condition, kind: str) -> bool:
    """Return whether a condition asks a row of a kind for more than where and what it is."""
    probe = _Probe(kind)
    return condition(probe) or not probe.asked <= set(_PLACE)


def matching_rows(document: Mapping[str, Any], condition: Condition) -> list[str]:
    """Return the names of the rows for which a condition holds.

    document: the JSON form of the report. Raises ValueError for a condition that no row can have.
    """
    condition(_NULL_ROW)
    return [name for name, row in _list_rows(document) if condition({**_NULL_ROW, **row})]


def _list_rows(document: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield every stream, mirror, source, consumer, server and account, and the login of a place."""
    for report in document["reports"]:
        place = {"context": report["context"], "domain": report["domain"]}
        where = " ".join(word for word in place.values() if word)
        if report["login"]["trouble"]:
            yield f"{where}: login", _build_row(report["login"], place, "login")
        for stream in report["streams"]:
            yield f"{where}: stream {stream['stream']}", _build_row(stream, place, "stream")
        for link in report["replication"]:
            name = f"{where}: {link['kind']} {link['origin']} of stream {link['stream']}"
            yield name, _build_row(link, place, link["kind"])
        for consumer in report["consumers"] or ():
            name = f"{where}: consumer {consumer['stream']} > {consumer['consumer']}"
            yield name, _build_row(consumer, place, "consumer")
        for server in report["servers"] or ():
            yield f"{where}: server {server['server']}", _build_row(server, place, "server")
        for account in report["accounts"] or ():
            tier = f" tier {account['tier']}" if account["tier"] else ""
            yield f"{where}: account{tier}", _build_row(account, place, "account")


def _build_row(record: Mapping[str, Any], place: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    return {**record, **place, "kind": kind, "problems": len(record["trouble"])}
