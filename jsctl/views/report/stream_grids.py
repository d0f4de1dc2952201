"""The tables of the live report for streams, consumers, mirrors and sources. Pure."""

from collections.abc import Sequence
from typing import Any

from jsctl.base.command_lines import build_line
from jsctl.monitor.report.figures.lists import build_recorder
from jsctl.monitor.report.lines import ConsumerLine
from jsctl.monitor.report.places import Place
from jsctl.views.board import Grid
from jsctl.views.report.grid_cells import Page, Row, place_grid, place_keys, place_rows, suggest
from jsctl.views.report.units import build_grid_columns, list_grid_spare

_COLUMNS = {kind: build_grid_columns(kind) for kind in ("streams", "replication", "consumers")}
_SPARE = {kind: list_grid_spare(kind) for kind in _COLUMNS}
_RECORDERS = {kind: build_recorder(kind, is_screen=True) for kind in _COLUMNS}


def streams(places: Sequence[Place]) -> Grid:
    """Return the table of streams."""
    return place_grid(
        places,
        place_rows(places, lambda place: place.tracker.streams),
        _COLUMNS["streams"],
        lambda line: line.row.stream,
        spare=_SPARE["streams"],
        noun="streams",
        record=lambda row: {**place_keys(row), **_RECORDERS["streams"](row.line)},
        line=lambda row: build_line("stream info", row.line.row.stream, place=row.place.flags),
        page=lambda row: Page(row.number, row.line.row.stream),
    )


def consumers(places: Sequence[Place]) -> Grid:
    """Return the table of consumers."""
    return place_grid(
        places,
        place_rows(places, lambda place: place.tracker.consumers),
        _COLUMNS["consumers"],
        lambda line: (line.stream, line.consumer),
        spare=_SPARE["consumers"],
        noun="consumers",
        record=_build_consumer_record,
        line=lambda row: suggest(
            row.place, row.line.help, "consumer why", row.line.stream, row.line.consumer
        ),
        page=lambda row: Page(row.number, row.line.stream, row.line.consumer),
        empty="there are no consumers, or none was listed yet",
    )


def _build_consumer_record(row: Row) -> dict[str, Any]:
    line: ConsumerLine = row.line
    return {
        **place_keys(row),
        **_RECORDERS["consumers"](line),
        "why": line.why or None,
        "help": line.help.at(row.place.flags) if line.help else None,
    }


def links(places: Sequence[Place]) -> Grid:
    """Return the table of mirrors and sources."""
    return place_grid(
        places,
        place_rows(places, lambda place: place.tracker.links),
        _COLUMNS["replication"],
        lambda line: (line.row.stream, line.row.kind, line.row.origin, line.row.api_prefix, line.row.filters),
        spare=_SPARE["replication"],
        noun="mirrors and sources",
        record=lambda row: {**place_keys(row), **_RECORDERS["replication"](row.line)},
        line=lambda row: build_line("stream info", row.line.row.stream, place=row.place.flags),
        page=lambda row: Page(row.number, row.line.row.stream),
    )
