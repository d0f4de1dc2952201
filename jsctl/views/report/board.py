"""The parts of `jsctl report --watch`: streams, consumers, replication, servers, accounts, problems, and what
is fetched only where it is shown. Pure."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from jsctl.base.command_lines import build_line
from jsctl.base.units import format_clock, join_some, seconds_to_ns
from jsctl.monitor.report.figures.figure import to_seconds
from jsctl.monitor.report.figures.lists import FIGURES, build_recorder, list_figures
from jsctl.monitor.report.lines import TroubleLine
from jsctl.monitor.report.places import Place
from jsctl.monitor.report.spark_queries import SparkQuery
from jsctl.monitor.report.tracking import Tracker
from jsctl.monitor.trouble import BAD
from jsctl.views.board import Board, Detail, Grid, Link, Part, table_to_grid
from jsctl.views.report import spark_queries
from jsctl.views.report.choice import EMPTY
from jsctl.views.report.grid_cells import (
    WAITING,
    WHERE,
    Page,
    Row,
    age_words,
    build_consumers_detail,
    is_waiting,
    lead_to_stream,
    link_object,
    place_grid,
    place_keys,
    place_rows,
    suggest,
)
from jsctl.views.result import Cell, Column, Text
from jsctl.views.shared.figures import STYLES, build_columns, drain_cell

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
        fixed=WHERE.key,
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


_COLUMNS = {kind: build_columns(kind, "screen") for kind in FIGURES}
_RECORDERS = {kind: build_recorder(list_figures(kind, is_screen=True)) for kind in FIGURES}


def streams(places: Sequence[Place]) -> Grid:
    """Return the table of streams."""
    return _build_grid(
        "streams",
        places,
        lambda place: place.tracker.streams,
        ("row.stream",),
        line=_format_stream_line,
        **lead_to_stream(attrgetter("row.stream")),
    )


def consumers(places: Sequence[Place]) -> Grid:
    """Return the table of consumers."""
    return _build_grid(
        "consumers",
        places,
        lambda place: place.tracker.consumers,
        ("stream", "consumer"),
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
        empty=_explain_no_consumers([place.tracker for place in places]),
    )


def _explain_no_consumers(trackers: Sequence[Tracker]) -> str:
    """Return why there may be no consumers; empty if there are none, or some."""
    if any(tracker.consumers for tracker in trackers):
        return ""
    counts = (line.row.consumers for tracker in trackers for line in tracker.streams or ())
    is_known = all(tracker.consumers is not None for tracker in trackers) and not any(counts)
    return "" if is_known else EMPTY["consumers"]


def links(places: Sequence[Place]) -> Grid:
    """Return the table of mirrors and sources."""
    return _build_grid(
        "replication",
        places,
        lambda place: place.tracker.links,
        ("row.stream", "row.kind", "row.origin", "row.api_prefix", "row.filters"),
        noun="mirrors and sources",
        line=_format_stream_line,
        **lead_to_stream(attrgetter("row.stream")),
    )


def servers(places: Sequence[Place]) -> Grid:
    """Return the table of servers."""
    return _build_grid(
        "servers",
        places,
        lambda place: place.tracker.servers,
        ("server",),
        line=lambda row: build_line("server info", row.line.server, place=row.place.flags),
        empty=EMPTY["servers"],
    )


def accounts(places: Sequence[Place]) -> Grid:
    """Return the table of accounts, which have no names but those of their places."""
    return _build_grid(
        "accounts",
        places,
        lambda place: place.tracker.accounts,
        ("tier",),
        before=[WHERE] if len(places) < 2 else [],
        line=lambda row: build_line("account info", place=row.place.flags),
        empty=EMPTY["accounts"],
    )


def _build_grid(
    kind: str,
    places: Sequence[Place],
    lines: Callable[[Place], Iterable[Any] | None],
    key: Sequence[str],
    *,
    before: Sequence[Column] = (),
    more: Callable[[Row], dict[str, Any]] = lambda row: {},
    noun: str = "",
    **attrs: Any,
) -> Grid:
    """Return the table of a list. key: the attributes that identify a line of a place. before: further
    columns. more: further keys of a row's JSON."""
    record = _RECORDERS[kind]
    return place_grid(
        places,
        place_rows(places, lines),
        [*before, *_COLUMNS[kind]],
        attrgetter("number", *(f"line.{name}" for name in key)),
        kind,
        noun=noun or kind,
        record=lambda row: {**place_keys(row), **record(row.line), **more(row)},
        **attrs,
    )


def _format_stream_line(row: Row) -> str:
    return build_line("stream info", row.line.row.stream, place=row.place.flags)


_OLD = 5.0  #: seconds after which the age of a part is shown


def board(
    places: Sequence[Place],
    now: float,
    number: int,
    queries: Sequence[SparkQuery] | None = None,
    listing: str | None = None,
    marked: Container[str] = (),
) -> Board:
    """Return the board of a round. now: seconds since 1970. queries: Spark's; None when they were not asked
    for. listing: which of LISTED is shown; None where there are none. marked: the places that the screen's
    title names without the heading.
    """

    def count(list_name: str) -> int | None:
        known = [rows for place in places if (rows := getattr(place.tracker, list_name)) is not None]
        return sum(map(len, known)) if known else None

    parts = [
        Part("streams", "Streams", lambda: streams(places), count("streams")),
        Part("consumers", "Consumers", lambda: consumers(places), count("consumers")),
        Part("replication", "Replication", lambda: links(places), count("links")),
        Part("servers", "Servers", lambda: servers(places), count("servers")),
        Part("accounts", "Accounts", lambda: accounts(places), count("accounts")),
        Part(
            "problems",
            "Problems",
            lambda: problems(places, now),
            sum(len(place.problems(now)) for place in places)
            if any(place.at is not None or place.error for place in places)
            else None,
            is_vital=True,
        ),
    ]
    notices = _list_notices(places, now)
    if listing is not None:
        from jsctl.views.report.listings import list_notices, list_parts  # a screen alone has them

        parts += list_parts(places, now)
        notices += list_notices(places, listing) if listing else []
    if queries is not None:
        parts.append(Part("spark", "Spark", lambda: _build_spark_grid(queries, now)))
    named = [place.title for place in places if place.title not in marked]
    heading = f"{join_some(named, 4)}  {format_clock(seconds_to_ns(now))}".lstrip()
    return Board(parts, heading, notices, number)


def _build_spark_grid(queries: Sequence[SparkQuery], now: float) -> Grid:
    pane = spark_queries.pane(queries, now)
    if not pane.tables:
        return Grid((), (), key=id, empty=pane.messages[0].text if pane.messages else pane.summary.text)
    return table_to_grid(pane.tables[0])


def _list_notices(places: Sequence[Place], now: float) -> list[Text]:
    notices = []
    for place in places:
        if place.error:
            since = f", its numbers are {age_words(now - place.at)} old" if place.at is not None else ""
            notices.append(Text(f"{place.title} {place.state}{since}: {place.error}", "bad"))
        notices += [
            Text(f"{place.title}: not checked: {gap.why}", "dim" if gap.is_chosen else "warn")
            for gap in place.tracker.gaps
        ]
        oldest = place.tracker.consumers_at
        if oldest is not None and now - oldest >= _OLD:
            notices.append(Text(f"{place.title}: consumers are up to {age_words(now - oldest)} old", "dim"))
    return notices
