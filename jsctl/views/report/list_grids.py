"""The tables of the live report for streams, consumers, mirrors and sources, servers, accounts. Pure."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

from jsctl.base.command_lines import build_line
from jsctl.monitor.report.figures.lists import FIGURES, build_recorder
from jsctl.monitor.report.places import Place
from jsctl.views.board import Grid
from jsctl.views.report.choice import EMPTY
from jsctl.views.report.grid_cells import (
    WHERE,
    Page,
    Row,
    build_consumers_detail,
    link_object,
    place_grid,
    place_keys,
    place_rows,
    suggest,
)
from jsctl.views.result import Column
from jsctl.views.shared.figures import build_columns

_COLUMNS = {kind: build_columns(kind, "screen") for kind in FIGURES}
_RECORDERS = {kind: build_recorder(kind, is_screen=True) for kind in FIGURES}


def streams(places: Sequence[Place]) -> Grid:
    """Return the table of streams."""
    return _build_grid(
        "streams",
        places,
        lambda place: place.tracker.streams,
        lambda line: line.row.stream,
        line=_format_stream_line,
        page=lambda row: Page(row.number, row.line.row.stream),
        detail=lambda row: build_consumers_detail(row, row.line.row.stream),
        links=lambda row: link_object(row, row.line.row.stream),
    )


def consumers(places: Sequence[Place]) -> Grid:
    """Return the table of consumers."""
    return _build_grid(
        "consumers",
        places,
        lambda place: place.tracker.consumers,
        lambda line: (line.stream, line.consumer),
        more=lambda row: {
            "why": row.line.why or None,
            "help": row.line.help.at(row.place.flags) if row.line.help else None,
        },
        line=lambda row: suggest(
            row.place, row.line.help, "consumer why", row.line.stream, row.line.consumer
        ),
        page=lambda row: Page(row.number, row.line.stream, row.line.consumer),
        links=lambda row: link_object(row, row.line.stream, row.line.consumer),
        owner=lambda row: (row.number, row.line.stream),
        empty=EMPTY["consumers"],
    )


def links(places: Sequence[Place]) -> Grid:
    """Return the table of mirrors and sources."""
    return _build_grid(
        "replication",
        places,
        lambda place: place.tracker.links,
        lambda line: (line.row.stream, line.row.kind, line.row.origin, line.row.api_prefix, line.row.filters),
        noun="mirrors and sources",
        line=_format_stream_line,
        page=lambda row: Page(row.number, row.line.row.stream),
        detail=lambda row: build_consumers_detail(row, row.line.row.stream),
        links=lambda row: link_object(row, row.line.row.stream),
    )


def servers(places: Sequence[Place]) -> Grid:
    """Return the table of servers."""
    return _build_grid(
        "servers",
        places,
        lambda place: place.tracker.servers,
        lambda line: line.server,
        line=lambda row: build_line("server info", row.line.server, place=row.place.flags),
        empty=EMPTY["servers"],
    )


def accounts(places: Sequence[Place]) -> Grid:
    """Return the table of accounts, which have no names but those of their places."""
    return _build_grid(
        "accounts",
        places,
        lambda place: place.tracker.accounts,
        lambda line: line.tier,
        before=[WHERE] if len(places) < 2 else [],
        line=lambda row: build_line("account info", place=row.place.flags),
        empty=EMPTY["accounts"],
    )


def _build_grid(
    kind: str,
    places: Sequence[Place],
    lines: Callable[[Place], Iterable[Any] | None],
    key: Callable[[Any], Hashable],
    *,
    before: Sequence[Column] = (),
    more: Callable[[Row], dict[str, Any]] = lambda row: {},
    noun: str = "",
    **attrs: Any,
) -> Grid:
    """Return the table of a list. key: of a line. before: further columns. more: further keys of a row's
    JSON."""
    record = _RECORDERS[kind]
    return place_grid(
        places,
        place_rows(places, lines),
        [*before, *_COLUMNS[kind]],
        key,
        noun=noun or kind,
        record=lambda row: {**place_keys(row), **record(row.line), **more(row)},
        **attrs,
    )


def _format_stream_line(row: Row) -> str:
    return build_line("stream info", row.line.row.stream, place=row.place.flags)
