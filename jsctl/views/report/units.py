"""The figures of a report as columns: of tables, and of the screen. Pure."""

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from jsctl.base.units import MINUTE, SECOND, format_bytes, format_duration
from jsctl.monitor.report.figures.figure import ColumnPlacement, Figure
from jsctl.monitor.report.figures.lists import FIGURES
from jsctl.monitor.rules import objects
from jsctl.views.report.grid_cells import (
    TROUBLE,
    ago_cell,
    drain_cell,
    growth_cell,
    rate_cell,
    remaining_cell,
    share_cell,
)
from jsctl.views.report.panes import STYLES
from jsctl.views.result import Cell, Column, Kind


class _Unit(NamedTuple):
    """How people read a figure. table, screen: make a cell of a value, in a table with the level of its row;
    None shows the value as it is. rate: whether it needs two rounds."""

    kind: Kind
    table: Callable[[Any, int], Any] | None = None
    screen: Callable[[Any], Any] | None = None
    rate: bool = False


class TableColumn(NamedTuple):
    """A column of a report. read: its value of a line. cell: the value and the level as a cell."""

    column: Column
    read: Callable[[Any], Any]
    cell: Callable[[Any, int], Any]
    is_rate: bool
    is_optional: bool
    is_text: bool


def _build_cpu_cell(value: float | None) -> Any:
    return None if value is None else Cell(value, f"{value:.0f}%")


def _build_limit_cell(value: int | None) -> Any:
    return Cell(-1, "unlimited") if value is None else value


def _build_growth_cell(value: float | None, level: int) -> Any:
    if value is None:
        return None
    return Cell(value, f"{'+' if value > 0 else ''}{format_bytes(round(value))}/s")


def _build_seen_cell(value: int | None, level: int) -> Any:
    if value is None or value >= objects.SILENT:
        return Cell(value, "never" if value is None else format_duration(value), STYLES[level])
    return value


def _build_slope_cell(value: tuple[float | None, int], level: int) -> Any:
    """Return `↑ 120/s`, or `↓ 50/s, 12s left`; an empty cell for no change."""
    rate, remaining = value
    if rate is None:
        return None
    if not rate:
        return Cell(rate, "")
    shown = f"{abs(rate):,.0f}/s" if abs(rate) >= 10 else f"{abs(rate):,.1f}/s"
    if rate > 0:
        return Cell(rate, f"↑ {shown}", "warn")
    remaining_note = f", {format_duration(round(remaining / -rate) * SECOND)} left" if remaining else ""
    return Cell(rate, f"↓ {shown}{remaining_note}", "good")


_UNITS: Mapping[str, _Unit] = {
    "text": _Unit("text"),
    "cpu": _Unit("rate", lambda value, level: _build_cpu_cell(value), _build_cpu_cell),
    "limit": _Unit("limit", lambda value, level: _build_limit_cell(value), _build_limit_cell),
    "bytes_limit": _Unit("bytes_limit", lambda value, level: _build_limit_cell(value), _build_limit_cell),
    "prose": _Unit("prose"),
    "count": _Unit("count"),
    "bytes": _Unit("bytes"),
    "time": _Unit("time"),
    "trend": _Unit("trend"),
    "name": _Unit("text", lambda name, level: Cell(name, name, STYLES[level]) if level else name),
    "word": _Unit("text", lambda word, level: Cell(word, word.capitalize())),
    "names": _Unit("text", lambda names, level: Cell(names, ", ".join(names)), " ".join),
    "error": _Unit("prose", lambda words, level: Cell(words, words, "bad")),
    "bad_count": _Unit("count", lambda count, level: Cell(count, f"{count:,}", "bad") if count else count),
    "rate": _Unit("rate", None, rate_cell, rate=True),
    "event_rate": _Unit("rate", None, lambda value: rate_cell(*value)),
    "growth": _Unit("bytes", _build_growth_cell, growth_cell, rate=True),
    "slope": _Unit("text", _build_slope_cell, rate=True),
    "share": _Unit("percent", None, share_cell),
    "remaining": _Unit("duration", None, remaining_cell),
    "remaining_hour": _Unit("duration", None, lambda span: remaining_cell(span, 60 * MINUTE)),
    "drain": _Unit("duration", None, drain_cell),
    "since": _Unit("ago", lambda span, level: Cell(None, "never") if span is None else span, ago_cell),
    "seen": _Unit("ago", _build_seen_cell),
}
_SCREEN_KINDS: Mapping[str, Kind] = {"growth": "rate"}
_TROUBLE_AT = 99


def build_table_columns(kind: str) -> tuple[list[TableColumn], list[str]]:
    """Return the columns of a list in a report, and the keys of those that a narrow terminal leaves out."""
    columns = []
    for figure, shown in _order(kind, attrgetter("table")):
        unit = _UNITS[shown.unit or figure.unit]
        columns.append(
            TableColumn(
                Column(shown.title or figure.title, figure.key, unit.kind),
                figure.build_reader(shown),
                unit.table or (lambda value, level: value),
                unit.rate,
                shown.optional,
                figure.is_text,
            )
        )
    return columns, _list_hideable(_order(kind, attrgetter("table")))


def build_grid_columns(kind: str) -> list[Column]:
    """Return the columns of a list on the screen, which read the line of a row."""
    columns = [
        (shown.at, _build_grid_column(figure, shown)) for figure, shown in _order(kind, attrgetter("screen"))
    ]
    before = [column for at, column in columns if at < _TROUBLE_AT]
    return [*before, TROUBLE, *(column for at, column in columns if at >= _TROUBLE_AT)]


def list_grid_spare(kind: str) -> list[str]:
    """Return the keys of the columns that a narrow terminal leaves out, the most dispensable first."""
    return _list_hideable(_order(kind, attrgetter("screen")))


def find_grid_key(kind: str, sort: str) -> str:
    """Return the key of the screen's column for a value of `--sort`; the value itself if there is none."""
    if sort == "name":
        return "stream"
    keys = (
        {
            name: shown.key or figure.key
            for figure, shown in _order(kind, attrgetter("screen"))
            for name in (figure.key, figure.sort)
        }
        if kind in FIGURES
        else {}
    )
    return keys.get(sort, sort)


def _build_grid_column(figure: Figure, shown: ColumnPlacement) -> Column:
    name = shown.unit or figure.unit
    unit, read = _UNITS[name], figure.build_reader(shown)
    attribute, cell = shown.read or figure.read or figure.key, unit.screen

    def value(row: Any) -> Any:
        return cell(read(row.line)) if cell is not None else read(row.line)

    is_plain = cell is None and isinstance(attribute, str) and not figure.kind.startswith("ns")
    return Column(
        shown.title or figure.title,
        shown.key or figure.key,
        _SCREEN_KINDS.get(name, unit.kind),
        read=attrgetter(f"line.{attribute}") if is_plain else value,
        wide=shown.wide,
        optional=shown.optional,
        quiet=shown.quiet,
    )


def _order(
    kind: str, get: Callable[[Figure], ColumnPlacement | None]
) -> Sequence[tuple[Figure, ColumnPlacement]]:
    """Return the figures of a list that have a column, by its position."""
    own = [(figure, shown) for figure in FIGURES[kind] if (shown := get(figure)) is not None]
    titled = [(figure, shown) for figure, shown in own if shown.title or figure.title]
    return sorted(titled, key=lambda pair: pair[1].at)


def _list_hideable(columns: Sequence[tuple[Figure, ColumnPlacement]]) -> list[str]:
    hideable = sorted((pair for pair in columns if pair[1].hideable), key=lambda pair: -pair[1].hideable)
    return [shown.key or figure.key for figure, shown in hideable]
