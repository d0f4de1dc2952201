"""Parts of the live report's tables: rows of places, cells, command lines. Pure."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, NamedTuple

from jsctl.base.command_lines import Suggestion
from jsctl.base.units import (
    MINUTE,
    SECOND,
    format_bytes,
    format_exact_duration,
    seconds_to_ns,
    truncate_to_seconds,
)
from jsctl.monitor.report.places import Place
from jsctl.monitor.trouble import find_level
from jsctl.views.board import Detail, Grid
from jsctl.views.report.panes import STYLES
from jsctl.views.result import Cell, Column, Kind


class Row(NamedTuple):
    """A line of one place. number: that of the place."""

    place: Place
    number: int
    line: Any


class Page(NamedTuple):
    """A page that `enter` opens: a stream, or with a consumer's name a consumer; without a stream's name the
    place itself. place: its number."""

    place: int
    stream: str
    consumer: str = ""


def build_consumers_detail(row: Row, stream: str) -> Detail:
    """Return where the consumers of a stream are, which is at the place of a row."""
    return Detail("consumers", (row.number, stream), f"stream {stream}")


WHERE = Column("Where", "where", "text", read=lambda row: row.place.title)
"""The column that names the place of a row, if there are several."""

WAITING = "waiting for the first answer"


def is_waiting(places: Sequence[Place]) -> bool:
    """Return whether no place has answered, or failed, yet."""
    return all(place.at is None and not place.error for place in places)


def place_rows(places: Sequence[Place], lines: Callable[[Place], Iterable[Any] | None]) -> list[Row]:
    """Return the lines of all places, in their order."""
    return [Row(place, number, line) for number, place in enumerate(places) for line in lines(place) or ()]


def place_grid(
    places: Sequence[Place],
    rows: Sequence[Row],
    columns: Sequence[Column],
    key: Callable[[Any], Hashable],
    **attrs: Any,
) -> Grid:
    """Return a grid of lines; if there are several places, the first column names them."""
    if len(places) > 1:
        columns = [WHERE, *columns]
    if is_waiting(places):
        attrs["empty"] = WAITING
    return Grid(
        columns,
        rows,
        key=lambda row: (row.number, key(row.line)),
        level=lambda row: find_level(row.line.troubles),
        dim=lambda row: bool(row.place.error),
        **attrs,
    )


def column(title: str, key: str, kind: Kind, read: Callable[[Any], Any], **attrs: Any) -> Column:
    """Return a column that reads the line of a row."""
    return Column(title, key, kind, read=lambda row: read(row.line), **attrs)


TROUBLE = column(
    *("Trouble", "trouble", "prose"),
    lambda line: ", ".join(trouble.words for trouble in line.troubles),
    optional=True,
)


def remaining_cell(span: int | None, soon: int = 10 * MINUTE) -> Any:
    """Return a cell for a remaining time (ns); one of at most `soon` ns is a warning."""
    if span is None:
        return None
    return Cell(span, format_exact_duration(span), "warn" if span <= soon else "")


def drain_cell(span: int | None) -> Any:
    """Return a cell for the time (ns) until a lag is gone."""
    if span is not None:
        return Cell(span, format_exact_duration(span), "good")
    return None


def growth_cell(value: float | None) -> Any:
    """Return a cell for bytes per second, with their sign."""
    if value is None:
        return None
    rounded = round(value)
    if not rounded:
        return Cell(0, "")
    return Cell(rounded, f"{'+' if rounded > 0 else '-'}{format_bytes(abs(rounded))}/s")


def rate_cell(value: float | None, event: str = "") -> Any:
    """Return a cell for a rate, or for what reset its counter."""
    if event:
        return Cell(None, event, "warn")
    if not value:
        return Cell(value, "" if value is None else "0")
    return Cell(value, f"{value:,.0f}/s" if value >= 10 else f"{value:,.1f}/s")


def share_cell(value: float | None) -> Any:
    """Return a cell for how full something is, 0 to 1."""
    if value is None:
        return None
    style = STYLES[2] if value >= 1 else STYLES[1] if value >= 0.9 else ""
    return Cell(value, f"{value * 100:.0f}%", style)


def ago_cell(span: int | None) -> Any:
    """Return a cell for the time (ns) since something, None for never."""
    return (
        Cell(None, "never", "dim")
        if span is None
        else Cell(span, format_exact_duration(truncate_to_seconds(span)))
    )


def age_words(seconds: float) -> str:
    """Format a span in seconds for people, at least a second."""
    return format_exact_duration(truncate_to_seconds(max(seconds_to_ns(seconds), SECOND)))


def suggest(place: Place, help: Suggestion | None, verb: str, *names: str) -> str:
    """Return the command line, for a place, that helps; without one, that of a verb."""
    return (help or Suggestion(verb, names)).at(place.flags)


def place_keys(row: Row) -> dict[str, Any]:
    """Return the keys of a record that name its place."""
    return {"context": row.place.context, "domain": row.place.domain}
