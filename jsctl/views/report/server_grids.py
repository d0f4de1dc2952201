"""The tables of the live report for servers, accounts and problems. Pure."""

from collections.abc import Callable, Sequence
from typing import Any

from jsctl.base.command_lines import build_line
from jsctl.base.units import MINUTE
from jsctl.monitor.report.figures.figure import to_seconds
from jsctl.monitor.report.lines import AccountLine, Problem, ServerLine
from jsctl.monitor.report.places import Place
from jsctl.views.board import Grid, GridColumn
from jsctl.views.report.grid_cells import (
    TROUBLE,
    Page,
    Row,
    age_words,
    column,
    drain_cell,
    growth_cell,
    place_grid,
    place_keys,
    place_rows,
    rate_cell,
    remaining_cell,
    share_cell,
    suggest,
)
from jsctl.views.report.panes import STYLES
from jsctl.views.result import Cell


def _read_hosting(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda line: None if line.hosting is None else read(line.hosting)


_SERVERS = (
    column("Server", "server", "text", lambda line: line.server + ("*" if line.meta_leader else "")),
    column("Cluster", "cluster", "text", lambda line: line.cluster, optional=True),
    column("Version", "version", "text", lambda line: line.version, optional=True),
    column("Leads", "leads", "count", _read_hosting(lambda line: line.leads), optional=True),
    column("Follows", "follows", "count", _read_hosting(lambda line: line.follows), optional=True),
    column("Behind", "behind", "count", _read_hosting(lambda line: line.behind), optional=True),
    column("Offline", "offline", "count", _read_hosting(lambda line: line.offline), optional=True),
    column("Worst Lag", "lag", "count", _read_hosting(lambda line: line.lag), optional=True),
    column(
        "CPU",
        "cpu",
        "rate",
        lambda line: None if line.cpu is None else Cell(line.cpu, f"{line.cpu:.0f}%"),
        optional=True,
    ),
    column("Memory", "memory", "bytes", lambda line: line.memory, optional=True),
    column("Connections", "connections", "count", lambda line: line.connections, optional=True),
    column("In", "received", "rate", lambda line: rate_cell(line.received), optional=True, quiet=True),
    column("Out", "sent", "rate", lambda line: rate_cell(line.sent), optional=True, quiet=True),
    column("Slow", "slow", "count", lambda line: line.slow, optional=True),
    column("Stored", "stored", "bytes", lambda line: line.stored, optional=True),
    column("API", "requests", "rate", lambda line: rate_cell(line.requests), optional=True, quiet=True),
    column("Started", "uptime", "time", lambda line: line.uptime or None, wide=True, quiet=True),
    TROUBLE,
)


def servers(places: Sequence[Place]) -> Grid:
    """Return the table of servers."""

    def record(row: Row) -> dict[str, Any]:
        line: ServerLine = row.line
        values = {column.key: column.raw(row) for column in _SERVERS if column.key != "trouble"}
        values["server"] = line.server
        return {
            **place_keys(row),
            **values,
            "trouble": [trouble.words for trouble in line.troubles],
            "codes": [trouble.code for trouble in line.troubles],
        }

    return place_grid(
        places,
        place_rows(places, lambda place: place.tracker.servers),
        _SERVERS,
        lambda line: line.server,
        spare=("uptime", "slow", "cluster", "version", "stored", "requests", "sent", "received", "memory"),
        noun="servers",
        record=record,
        line=lambda row: build_line("server info", row.line.server, place=row.place.flags),
        empty="no cluster is known; a login of the system account shows all servers",
    )


_ACCOUNTS = (
    column("Tier", "tier", "text", lambda line: line.tier, optional=True),
    column("Streams", "streams", "count", lambda line: line.streams),
    column("of", "max_streams", "limit", lambda line: line.max_streams, optional=True),
    column("Consumers", "consumers", "count", lambda line: line.consumers),
    column("of", "max_consumers", "limit", lambda line: line.max_consumers, wide=True),
    column("File", "file", "bytes", lambda line: line.file),
    column("of", "max_file", "bytes_limit", lambda line: line.max_file),
    column(
        "Full",
        "share",
        "percent",
        lambda line: share_cell(line.file / line.max_file) if line.max_file > 0 else None,
    ),
    column("Growth", "growth", "rate", lambda line: growth_cell(line.growth), quiet=True),
    column("Full In", "limit", "duration", lambda line: remaining_cell(line.limit, 60 * MINUTE), quiet=True),
    column("Memory", "memory", "bytes", lambda line: line.memory),
    column("of", "max_memory", "bytes_limit", lambda line: line.max_memory, wide=True),
    column("API", "requests", "rate", lambda line: rate_cell(line.requests), quiet=True),
    column("API Errors", "failed", "count", lambda line: line.failed),
    TROUBLE,
)


def accounts(places: Sequence[Place]) -> Grid:
    """Return the table of accounts."""

    def record(row: Row) -> dict[str, Any]:
        line: AccountLine = row.line
        values = {
            column.key: column.raw(row) for column in _ACCOUNTS if column.key not in ("trouble", "limit")
        }
        values["seconds_to_limit"] = to_seconds(line.limit)
        return {
            **place_keys(row),
            **values,
            "trouble": [trouble.words for trouble in line.troubles],
            "codes": [trouble.code for trouble in line.troubles],
        }

    columns = [GridColumn("Where", "where", "text", lambda row: row.place.title)] if len(places) < 2 else []
    return place_grid(
        places,
        place_rows(places, lambda place: place.tracker.accounts),
        [*columns, *_ACCOUNTS],
        lambda line: line.tier,
        spare=("max_streams", "requests", "memory", "growth", "limit", "max_file", "consumers"),
        noun="accounts",
        record=record,
        line=lambda row: build_line("account info", place=row.place.flags),
        empty="this login is not allowed to ask about its account",
    )


_PROBLEMS = (
    GridColumn("What", "kind", "text", lambda row: row.line.kind),
    GridColumn(
        "Name", "name", "text", lambda row: " > ".join(filter(None, row.line.name)) or row.place.title
    ),
    GridColumn(
        "Problem",
        "problem",
        "prose",
        lambda row: Cell(
            row.line.trouble.words, row.line.trouble.words, STYLES[2 if row.line.trouble.bad else 1]
        ),
    ),
)
_PROBLEMS_END = (
    GridColumn(
        "Clears In", "drain", "duration", lambda row: drain_cell(row.line.drain), optional=True, quiet=True
    ),
    GridColumn("Why", "why", "prose", lambda row: Cell(row.line.why, row.line.why, "dim"), optional=True),
)


def problems(places: Sequence[Place], now: float) -> Grid:
    """Return the table of problems. now: seconds since 1970."""
    rows = place_rows(places, lambda place: place.problems(now))
    since = GridColumn(
        "For",
        "since",
        "duration",
        lambda row: Cell(now - row.line.since, age_words(now - row.line.since)),
        quiet=True,
    )

    def record(row: Row) -> dict[str, Any]:
        line: Problem = row.line
        return {
            **place_keys(row),
            "kind": line.kind,
            "name": list(line.name),
            "problem": line.trouble.words,
            "code": line.trouble.code,
            "bad": line.trouble.bad,
            "for_seconds": round(now - line.since, 1),
            "seconds_to_drain": to_seconds(line.drain),
            "why": line.why or None,
            "help": line.help.at(row.place.flags) if line.help else None,
        }

    def page(row: Row) -> Page | None:
        line: Problem = row.line
        if line.kind == "context":
            return Page(row.number, "")
        if line.kind in ("account", "server"):
            return None
        return Page(row.number, line.name[0], line.name[1] if line.kind == "consumer" else "")

    columns = [*_PROBLEMS, since, *_PROBLEMS_END]
    if len(places) > 1:
        columns.insert(0, GridColumn("Where", "where", "text", lambda row: row.place.title))
    return Grid(
        columns,
        rows,
        key=lambda row: (row.number, row.line.key),
        level=lambda row: 2 if row.line.trouble.bad else 1,
        dim=lambda row: bool(row.place.error) and row.line.kind != "context",
        spare=("kind", "drain", "why", "since"),
        noun="problems",
        record=record,
        line=_format_problem_line,
        page=page,
        empty=_describe_no_problems(places),
    )


def _describe_no_problems(places: Sequence[Place]) -> str:
    if all(place.at is None and not place.error for place in places):
        return "waiting for the first answer"
    if any(not gap.is_chosen for place in places for gap in place.tracker.gaps):
        return "nothing wrong was found, but not everything was checked"
    return "nothing else is wrong" if any(place.error for place in places) else "nothing is wrong"


def _format_problem_line(row: Row) -> str:
    line: Problem = row.line
    match line.kind:
        case "consumer":
            return suggest(row.place, line.help, "consumer why", *line.name)
        case "context" | "account":
            return suggest(row.place, line.help, "account info")
        case "server":
            return suggest(row.place, line.help, "server info", line.name[0])
        case _:
            return suggest(row.place, line.help, "stream info", line.name[0])
