"""The tables of the live report for servers, accounts and problems. Pure."""

from collections.abc import Callable, Sequence
from typing import Any

from jsctl.monitor.report.lines import AccountLine, Problem, ServerLine
from jsctl.monitor.report.places import Place
from jsctl.units import MINUTE
from jsctl.views.board import Grid, GridColumn
from jsctl.views.report.grid_cells import (
    TROUBLE,
    Page,
    Row,
    age_words,
    column,
    command_line,
    drain_cell,
    growth_cell,
    left_cell,
    mending_line,
    place_grid,
    place_rows,
    rate_cell,
    seconds,
    share_cell,
    where,
)
from jsctl.views.report.panes import STYLES
from jsctl.views.result import Cell


def _hosted(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda one: None if one.hosting is None else read(one.hosting)


_SERVERS = (
    column("Server", "server", "text", lambda one: one.server + ("*" if one.meta_leader else "")),
    column("Cluster", "cluster", "text", lambda one: one.cluster, optional=True),
    column("Version", "version", "text", lambda one: one.version, optional=True),
    column("Leads", "leads", "count", _hosted(lambda one: one.leads), optional=True),
    column("Follows", "follows", "count", _hosted(lambda one: one.follows), optional=True),
    column("Behind", "behind", "count", _hosted(lambda one: one.behind), optional=True),
    column("Offline", "offline", "count", _hosted(lambda one: one.offline), optional=True),
    column("Worst Lag", "lag", "count", _hosted(lambda one: one.lag), optional=True),
    column(
        "CPU",
        "cpu",
        "rate",
        lambda one: None if one.cpu is None else Cell(one.cpu, f"{one.cpu:.0f}%"),
        optional=True,
    ),
    column("Memory", "memory", "bytes", lambda one: one.memory, optional=True),
    column("Connections", "connections", "count", lambda one: one.connections, optional=True),
    column("In", "received", "rate", lambda one: rate_cell(one.received), optional=True, quiet=True),
    column("Out", "sent", "rate", lambda one: rate_cell(one.sent), optional=True, quiet=True),
    column("Slow", "slow", "count", lambda one: one.slow, optional=True),
    column("Stored", "stored", "bytes", lambda one: one.stored, optional=True),
    column("API", "requests", "rate", lambda one: rate_cell(one.requests), optional=True, quiet=True),
    column("Started", "uptime", "time", lambda one: one.uptime or None, wide=True, quiet=True),
    TROUBLE,
)


def servers(places: Sequence[Place]) -> Grid:
    def record(row: Row) -> dict[str, Any]:
        one: ServerLine = row.line
        known = {column.key: column.raw(row) for column in _SERVERS if column.key != "trouble"}
        known["server"] = one.server
        return {**where(row), **known, "trouble": [trouble.words for trouble in one.troubles]}

    return place_grid(
        places,
        place_rows(places, lambda place: place.tracker.servers),
        _SERVERS,
        lambda one: one.server,
        spare=("uptime", "slow", "cluster", "version", "stored", "requests", "sent", "received", "memory"),
        noun="servers",
        record=record,
        line=lambda row: command_line(row.place, "server info", row.line.server),
        empty="no cluster is known; a login of the system account shows all servers",
    )


_ACCOUNTS = (
    column("Tier", "tier", "text", lambda one: one.tier, optional=True),
    column("Streams", "streams", "count", lambda one: one.streams),
    column("of", "max_streams", "limit", lambda one: one.max_streams, optional=True),
    column("Consumers", "consumers", "count", lambda one: one.consumers),
    column("of", "max_consumers", "limit", lambda one: one.max_consumers, wide=True),
    column("File", "file", "bytes", lambda one: one.file),
    column("of", "max_file", "bytes_limit", lambda one: one.max_file),
    column(
        "Full",
        "share",
        "percent",
        lambda one: share_cell(one.file / one.max_file) if one.max_file > 0 else None,
    ),
    column("Growth", "growth", "rate", lambda one: growth_cell(one.growth), quiet=True),
    column("Full In", "limit", "duration", lambda one: left_cell(one.limit, 60 * MINUTE), quiet=True),
    column("Memory", "memory", "bytes", lambda one: one.memory),
    column("of", "max_memory", "bytes_limit", lambda one: one.max_memory, wide=True),
    column("API", "requests", "rate", lambda one: rate_cell(one.requests), quiet=True),
    column("API Errors", "failed", "count", lambda one: one.failed),
    TROUBLE,
)


def accounts(places: Sequence[Place]) -> Grid:
    def record(row: Row) -> dict[str, Any]:
        one: AccountLine = row.line
        known = {
            column.key: column.raw(row) for column in _ACCOUNTS if column.key not in ("trouble", "limit")
        }
        known["seconds_to_limit"] = seconds(one.limit)
        return {**where(row), **known, "trouble": [trouble.words for trouble in one.troubles]}

    columns = [GridColumn("Where", "where", "text", lambda row: row.place.title)] if len(places) < 2 else []
    return place_grid(
        places,
        place_rows(places, lambda place: place.tracker.accounts),
        [*columns, *_ACCOUNTS],
        lambda one: one.tier,
        spare=("max_streams", "requests", "memory", "growth", "limit", "max_file", "consumers"),
        noun="accounts",
        record=record,
        line=lambda row: command_line(row.place, "account info"),
        empty="this login may not ask for its account",
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
        "Right In", "drain", "duration", lambda row: drain_cell(row.line.drain, 1), optional=True, quiet=True
    ),
    GridColumn("Why", "why", "prose", lambda row: Cell(row.line.why, row.line.why, "dim"), optional=True),
)


def problems(places: Sequence[Place], now: float) -> Grid:
    rows = place_rows(places, lambda place: place.tracker.problems(now))
    since = GridColumn(
        "For",
        "since",
        "duration",
        lambda row: Cell(now - row.line.since, age_words(now - row.line.since)),
        quiet=True,
    )

    def record(row: Row) -> dict[str, Any]:
        one: Problem = row.line
        return {
            **where(row),
            "kind": one.kind,
            "name": list(one.name),
            "problem": one.trouble.words,
            "bad": one.trouble.bad,
            "for_seconds": round(now - one.since, 1),
            "seconds_to_drain": seconds(one.drain),
            "why": one.why or None,
            "help": one.help or None,
        }

    def page(row: Row) -> Page | None:
        one: Problem = row.line
        if one.kind in ("account", "server"):
            return None
        return Page(row.number, one.name[0], one.name[1] if one.kind == "consumer" else "")

    columns = [*_PROBLEMS, since, *_PROBLEMS_END]
    if len(places) > 1:
        columns.insert(0, GridColumn("Where", "where", "text", lambda row: row.place.title))
    return Grid(
        columns,
        rows,
        key=lambda row: (row.number, row.line.key),
        level=lambda row: 2 if row.line.trouble.bad else 1,
        dim=lambda row: bool(row.place.error),
        spare=("kind", "drain", "why", "since"),
        noun="problems",
        record=record,
        line=_problem_line,
        page=page,
        empty="nothing else is wrong" if any(place.error for place in places) else "nothing is wrong",
    )


def _problem_line(row: Row) -> str:
    one: Problem = row.line
    match one.kind:
        case "consumer":
            return mending_line(row.place, one.help, *one.name)
        case "account":
            return command_line(row.place, "account info")
        case "server":
            return command_line(row.place, "server info", one.name[0])
        case _:
            return command_line(row.place, "stream info", one.name[0])
