"""Rows of `jsctl report` that meet a condition: `--fail-on`."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

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


def matching_rows(document: Mapping[str, Any], condition: Callable[[Mapping[str, Any]], bool]) -> list[str]:
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
