"""The parts of `jsctl report` that are fetched only where they are shown, with the columns of the verbs that
list the same. Pure."""

from collections.abc import Callable, Sequence
from operator import attrgetter
from pkgutil import resolve_name
from typing import Any, NamedTuple

from jsctl.base.command_lines import build_line
from jsctl.monitor.report.listings import LISTED, Listing
from jsctl.monitor.report.places import Place
from jsctl.monitor.trouble import FINE
from jsctl.views.board import Filter, Grid, Part
from jsctl.views.report.grid_cells import (
    WAITING,
    Row,
    lead_to_stream,
    place_grid,
    place_keys,
    place_rows,
)
from jsctl.views.result import Column, Table, Text, build_table


def list_columns(part: str, now: float) -> Sequence[Column]:
    """Return the columns of a list, imported only here, where they are shown. now: seconds since 1970."""
    columns = resolve_name(LISTED[part].columns)
    return [*(columns(now) if callable(columns) else columns)]


def _read_through(columns: Sequence[Column], path: str) -> Sequence[Column]:
    """Return the columns of rows that have what they read in an attribute."""
    get = attrgetter(path)

    def build(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda row: read(get(row))

    return [
        one._replace(read=attrgetter(f"{path}.{one.key}") if one.read is None else build(one.read))
        for one in columns
    ]


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
        title = f"{LISTED[part].title[:-1]} Report"
        return build_table(title, self.columns, self.rows or ()).without_blanks()


def list_keys(part: str) -> list[str]:
    """Return the keys of a row's JSON."""
    return [column.data_key for column in list_columns(part, 0)]


def _build_record(columns: Sequence[Column], row: Any) -> dict[str, Any]:
    return {column.data_key: column.data_value(column.get(row)) for column in columns}


def list_rows(place: Place, part: str, now: float, sort: str, search: Filter | None, name: str) -> Records:
    """Return a list of a place: the rows that a filter takes, the largest first if `sort` is a number in it.
    now: seconds since 1970. name: what the filter searches beside them."""
    columns = list_columns(part, now)
    listing = place.tracker.listings.get(part, Listing(part, None, "no answer yet"))
    if listing.rows is None:
        return Records(columns, None, listing.why)
    rows = list(listing.rows)
    if search is not None:
        words = Grid(columns, rows, key=LISTED[part].key).list_words(rows)
        rows = search.select(rows, [f"{name} {own}".strip() for own in words])
    number = next((one for one in columns if sort in (one.key, one.data_key)), None)
    if number is not None and number.kind not in ("text", "prose", "time"):
        rows.sort(key=lambda row: -(number.get_raw(row) or 0))
    return Records(columns, rows, "")


def list_parts(places: Sequence[Place], now: float) -> list[Part]:
    """Return the parts of the screen. now: seconds since 1970."""

    def count(part: str) -> int | None:
        known = [len(one.line.rows) for one in _list_answers(places, part) if one.line.rows is not None]
        return sum(known) if known else None

    return [
        Part(part, LISTED[part].title, lambda part=part: _build_grid(places, part, now), count(part))  # type: ignore[misc]
        for part in LISTED
    ]


def list_notices(places: Sequence[Place], part: str) -> list[Text]:
    """Return why a part lacks the rows of some of several places, a line for each reason."""
    names: dict[str, list[str]] = {}
    for place, _, listing in _list_answers(places, part):
        if listing.why and len(places) > 1:
            names.setdefault(listing.why, []).append(place.title)
    title = LISTED[part].title.lower()
    return [Text(f"no {title} of {', '.join(own)}: {why}", "dim") for why, own in names.items()]


def _list_answers(places: Sequence[Place], part: str) -> list[Row]:
    """Return the `Listing` of each place that has answered."""
    return place_rows(places, lambda place: [own] if (own := place.tracker.listings.get(part)) else [])


def _explain_empty(places: Sequence[Place], whys: Sequence[str]) -> str:
    """Return why there are no rows; empty if there are none. whys: of the places that have answered."""
    if whys:
        return "" if "" in whys else whys[0]  # notices name the places that are not known
    return next((place.error for place in places if place.error), WAITING)


def _build_grid(places: Sequence[Place], part: str, now: float) -> Grid:
    listed, shown = LISTED[part], _read_through(list_columns(part, now), "line")
    columns = [one._replace(quiet=one.kind in ("ago", "time", "duration")) for one in shown]
    answers = _list_answers(places, part)
    rows = [Row(place, number, row) for place, number, listing in answers for row in listing.rows or ()]

    def line(row: Row) -> str:
        verb, names, flags = listed.line(row.line)
        return build_line(verb, *names, flags=flags, place=row.place.flags)

    return place_grid(
        places,
        rows,
        columns,
        lambda row: (row.number, listed.key(row.line)),
        noun=listed.title.lower(),
        record=lambda row: {**place_keys(row), **_build_record(shown, row)},
        line=line,
        empty=_explain_empty(places, [one.line.why for one in answers]),
        level=lambda row: FINE,
        **({} if listed.stream is None else lead_to_stream(listed.stream)),
    )
