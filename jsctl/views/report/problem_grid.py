"""The table of the live report for problems. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from jsctl.monitor.report.figures.figure import to_seconds
from jsctl.monitor.report.lines import TroubleLine
from jsctl.monitor.report.places import Place
from jsctl.monitor.trouble import BAD
from jsctl.views.board import Detail, Grid, Link
from jsctl.views.report.grid_cells import (
    WAITING,
    WHERE,
    Page,
    Row,
    age_words,
    build_consumers_detail,
    is_waiting,
    link_object,
    place_keys,
    place_rows,
    suggest,
)
from jsctl.views.result import Cell, Column
from jsctl.views.shared.figures import STYLES, drain_cell

_PROBLEMS = (
    Column("What", "kind", "text", read=lambda row: row.line.kind, hideable=4),
    Column(
        "Name", "name", "text", read=lambda row: " > ".join(filter(None, row.line.name)) or row.place.title
    ),
    Column(
        *("Problem", "problem", "prose"),
        read=lambda row: Cell(row.line.words, row.line.words, STYLES[row.line.level]),
    ),
)
_PROBLEMS_END = (
    Column(
        "Clears In",
        "drain",
        "duration",
        read=lambda row: drain_cell(row.line.drain),
        optional=True,
        quiet=True,
        hideable=3,
    ),
    Column(
        "Why",
        "why",
        "prose",
        read=lambda row: Cell(row.line.why, row.line.why, "dim"),
        optional=True,
        hideable=2,
    ),
)


def problems(places: Sequence[Place], now: float) -> Grid:
    """Return the table of problems. now: seconds since 1970."""
    rows = place_rows(places, lambda place: place.problems(now))
    since = Column(
        "For",
        "since",
        "duration",
        read=lambda row: Cell(now - row.line.since, age_words(now - row.line.since)),
        quiet=True,
        hideable=1,
    )

    def record(row: Row) -> dict[str, Any]:
        line: TroubleLine = row.line
        return {
            **place_keys(row),
            "kind": line.kind,
            "name": list(line.name),
            "problem": line.words,
            "code": line.troubles[0].code,
            "bad": line.level == BAD,
            "for_seconds": round(now - line.since, 1),
            "seconds_to_drain": to_seconds(line.drain),
            "why": line.why or None,
            "help": line.help.at(row.place.flags) if line.help else None,
        }

    def page(row: Row) -> Page | None:
        line: TroubleLine = row.line
        if line.kind == "context":
            return Page(row.number, "")
        if line.kind in ("account", "server"):
            return None
        return Page(row.number, line.name[0], line.name[1] if line.kind == "consumer" else "")

    def detail(row: Row) -> Detail | None:
        line: TroubleLine = row.line
        is_of_stream = line.kind not in ("context", "account", "server")
        return build_consumers_detail(row, line.name[0]) if is_of_stream else None

    def links(row: Row) -> Mapping[str, Link]:
        line: TroubleLine = row.line
        if line.kind in ("context", "account", "server"):
            return {}
        return link_object(row, line.name[0], line.name[1] if line.kind == "consumer" else "")

    columns = [*_PROBLEMS, since, *_PROBLEMS_END]
    if len(places) > 1:
        columns.insert(0, WHERE)
    return Grid(
        columns,
        rows,
        key=lambda row: (row.number, row.line.key),
        level=lambda row: row.line.level,
        dim=lambda row: bool(row.place.error) and row.line.kind != "context",
        noun="problems",
        record=record,
        line=_format_problem_line,
        page=page,
        detail=detail,
        links=links,
        empty=_describe_no_problems(places),
    )


def _describe_no_problems(places: Sequence[Place]) -> str:
    if is_waiting(places):
        return WAITING
    if any(not gap.is_chosen for place in places for gap in place.tracker.gaps):
        return "nothing wrong was found, but not everything was checked"
    return "nothing else is wrong" if any(place.error for place in places) else "nothing is wrong"


def _format_problem_line(row: Row) -> str:
    line: TroubleLine = row.line
    match line.kind:
        case "consumer":
            return suggest(row.place, line.help, "consumer why", *line.name)
        case "context" | "account":
            return suggest(row.place, line.help, "account info")
        case "server":
            return suggest(row.place, line.help, "server info", line.name[0])
        case _:
            return suggest(row.place, line.help, "stream info", line.name[0])
