"""The parts of `jsctl report` that are fetched only where they are shown, with the columns of the verbs that
list the same. Pure."""

from collections.abc import Callable, Hashable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from jsctl.base.command_lines import build_line
from jsctl.base.units import seconds_to_ns
from jsctl.monitor.report.listings import LISTED, Listing
from jsctl.monitor.report.places import Place
from jsctl.monitor.trouble import FINE
from jsctl.views.board import Filter, Grid, Part
from jsctl.views.report.grid_cells import (
    WAITING,
    Page,
    Row,
    build_consumers_detail,
    link_object,
    place_grid,
    place_keys,
    place_rows,
)
from jsctl.views.result import Column, Table, Text, build_table

TITLES = {
    "buckets": "Buckets",
    "objects": "Object Buckets",
    "services": "Services",
    "connections": "Connections",
    "schedules": "Schedules",
}


class _Form(NamedTuple):
    """How a list is shown.

    columns: read the values of a line. build: makes the line of a row; it gets the time in seconds since
    1970. key: identifies a line. line: returns the words of a command line that shows it: its verb, its
    names, its flags. stream: returns the stream that holds it; None if none does.
    """

    columns: Sequence[Column]
    build: Callable[[Any, float], Any]
    key: Callable[[Any], Hashable]
    line: Callable[[Any], tuple[str, Sequence[str], Sequence[str]]]
    stream: Callable[[Any], str] | None = None


def _build_form(part: str) -> _Form:
    """Return how a list is shown. What lists it is imported only here, where it is shown."""
    if part in ("buckets", "objects"):
        from jsctl.views.kv.info import BUCKETS
        from jsctl.views.object.lists import BUCKETS as OBJECT_BUCKETS
        from jsctl.views.shared.infos import date_info

        verb = "kv info" if part == "buckets" else "object ls"
        own: Sequence[Column] = BUCKETS if part == "buckets" else OBJECT_BUCKETS

        def get_stream(info: Any) -> str:
            return str(info["config"]["name"])

        return _Form(own, date_info, get_stream, lambda info: (verb, [own[0].get(info)], []), get_stream)
    if part == "services":
        from jsctl.views.service.documents import RATES

        return _Form(
            RATES,
            lambda row, now: row,
            lambda row: (row.service, row.endpoint),
            lambda row: ("service info", [row.service], []),
        )
    if part == "connections":
        from jsctl.views.server.reports import CONNECTIONS

        return _Form(
            CONNECTIONS,
            lambda connection, now: connection,
            lambda connection: (connection["server"]["id"], connection["cid"]),
            lambda connection: ("server report connections", [], ["--filter", f"cid == {connection['cid']}"]),
        )
    from jsctl.views.schedule.schedules import COLUMNS, build_row

    columns = [
        column._replace(read=itemgetter(at))
        for at, column in enumerate((Column("Stream", "stream"), *COLUMNS))
    ]
    return _Form(
        columns,
        lambda row, now: (row[0], *build_row(row[1], seconds_to_ns(now), None)),
        itemgetter(0, 1),
        lambda row: ("schedule info", row[:2], []),
        itemgetter(0),
    )


class Records(NamedTuple):
    """A list of one place for people and programs. rows: None if it is not known."""

    columns: Sequence[Column]
    rows: Sequence[Any] | None
    why: str

    def list_records(self) -> list[dict[str, Any]] | None:
        """Return the rows as JSON."""
        if self.rows is None:
            return None
        return [_build_record(self.columns, row) for row in self.rows]

    def build_table(self, part: str) -> Table:
        """Return the rows for people."""
        return build_table(f"{TITLES[part][:-1]} Report", self.columns, self.rows or ()).without_blanks()


def list_keys(part: str) -> list[str]:
    """Return the keys of a row's JSON."""
    return [column.data_key for column in _build_form(part).columns]


def _build_record(columns: Sequence[Column], row: Any) -> dict[str, Any]:
    return {column.data_key: column.data_value(column.get(row)) for column in columns}


def list_rows(place: Place, part: str, now: float, sort: str, search: Filter | None, name: str) -> Records:
    """Return a list of a place: the rows that a filter takes, the largest first if `sort` is a number in it.
    name: what the filter searches beside them."""
    form = _build_form(part)
    listing = place.tracker.listings.get(part, Listing(part, None, "no answer yet"))
    if listing.rows is None:
        return Records(form.columns, None, listing.why)
    rows = [form.build(row, now) for row in listing.rows]
    if search is not None:
        words = Grid(form.columns, (), key=form.key).words
        rows = [row for row in rows if search.takes(f"{name} {words(row)}".strip())]
    number = next((one for one in form.columns if sort in (one.key, one.data_key)), None)
    if number is not None and number.kind not in ("text", "prose"):
        rows.sort(key=lambda row: -(number.get_raw(row) or 0))
    return Records(form.columns, rows, "")


def list_parts(places: Sequence[Place], now: float) -> list[Part]:
    """Return the parts of the screen. now: seconds since 1970."""

    def count(part: str) -> int | None:
        known = [len(one.line.rows) for one in _list_answers(places, part) if one.line.rows is not None]
        return sum(known) if known else None

    return [
        Part(part, TITLES[part], lambda part=part: _build_grid(places, part, now), count(part))  # type: ignore[misc]
        for part in LISTED
    ]


def list_notices(places: Sequence[Place], part: str) -> list[Text]:
    """Return why a part lacks the rows of some of several places, a line for each reason."""
    names: dict[str, list[str]] = {}
    for place, _, listing in _list_answers(places, part):
        if listing.why and len(places) > 1:
            names.setdefault(listing.why, []).append(place.title)
    return [
        Text(f"no {TITLES[part].lower()} of {', '.join(own)}: {why}", "dim") for why, own in names.items()
    ]


def _list_answers(places: Sequence[Place], part: str) -> list[Row]:
    """Return the `Listing` of each place that has answered."""
    return place_rows(places, lambda place: [own] if (own := place.tracker.listings.get(part)) else [])


def _read_line(get: Callable[[Any], Any]) -> Callable[[Row], Any]:
    return lambda row: get(row.line)


def _build_grid(places: Sequence[Place], part: str, now: float) -> Grid:
    form, noun = _build_form(part), TITLES[part].lower()
    columns = [
        column._replace(read=_read_line(column.get), quiet=column.kind in ("ago", "time", "duration"))
        for column in form.columns
    ]
    answers = _list_answers(places, part)
    rows = [
        Row(place, number, form.build(row, now))
        for place, number, listing in answers
        for row in listing.rows or ()
    ]
    stream = form.stream

    def line(row: Row) -> str:
        verb, names, flags = form.line(row.line)
        return build_line(verb, *names, flags=flags, place=row.place.flags)

    attrs: dict[str, Any] = (
        {}
        if stream is None
        else {
            "page": lambda row: Page(row.number, stream(row.line)),
            "detail": lambda row: build_consumers_detail(row, stream(row.line)),
            "links": lambda row: link_object(row, stream(row.line)),
        }
    )
    return place_grid(
        places,
        rows,
        columns,
        form.key,
        noun=noun,
        record=lambda row: {**place_keys(row), **_build_record(form.columns, row.line)},
        line=line,
        empty=next((one.line.why for one in answers if one.line.why), "") if answers else WAITING,
        level=lambda row: FINE,
        **attrs,
    )
