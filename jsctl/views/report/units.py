"""The figures of a report as columns: of tables, and of the screen. Pure."""

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Literal, NamedTuple

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
    """How people read a figure. table, screen: make a cell of a value; None shows the value as it is.
    is_rate: whether it needs two rounds. is_styled: whether its cells have the style of their row's level in
    a table, as a screen marks whole rows."""

    kind: Kind
    table: Callable[[Any], Any] | None = None
    screen: Callable[[Any], Any] | None = None
    is_rate: bool = False
    is_styled: bool = False


def _build_cpu_cell(value: float | None) -> Any:
    return None if value is None else Cell(value, f"{value:.0f}%")


def _build_limit_cell(value: int | None) -> Any:
    return Cell(None, "unlimited") if value is None else value


def _build_growth_cell(value: float | None) -> Any:
    if value is None:
        return None
    return Cell(value, f"{'+' if value > 0 else ''}{format_bytes(round(value))}/s")


def _build_seen_cell(value: int | None) -> Any:
    if value is None or value >= objects.SILENT:
        return Cell(value, "never" if value is None else format_duration(value))
    return value


def _build_slope_cell(value: tuple[float | None, int]) -> Any:
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
    "cpu": _Unit("rate", _build_cpu_cell, _build_cpu_cell),
    "limit": _Unit("limit", _build_limit_cell, _build_limit_cell),
    "bytes_limit": _Unit("bytes_limit", _build_limit_cell, _build_limit_cell),
    "prose": _Unit("prose"),
    "count": _Unit("count"),
    "bytes": _Unit("bytes"),
    "time": _Unit("time"),
    "trend": _Unit("trend"),
    "name": _Unit("text", lambda name: Cell(name, name), is_styled=True),
    "word": _Unit("text", lambda word: Cell(word, word.capitalize())),
    "names": _Unit("text", lambda names: Cell(names, ", ".join(names)), " ".join),
    "error": _Unit("prose", lambda words: Cell(words, words, "bad" if words else "")),
    "bad_count": _Unit("count", lambda count: Cell(count, f"{count:,}", "bad") if count else count),
    "rate": _Unit("rate", None, rate_cell, is_rate=True),
    "event_rate": _Unit("rate", None, lambda value: rate_cell(*value)),
    "growth": _Unit("bytes", _build_growth_cell, growth_cell, is_rate=True),
    "slope": _Unit("text", _build_slope_cell, is_rate=True),
    "share": _Unit("percent", None, share_cell),
    "remaining": _Unit("duration", None, remaining_cell),
    "remaining_hour": _Unit("duration", None, lambda span: remaining_cell(span, 60 * MINUTE)),
    "drain": _Unit("duration", None, drain_cell),
    "since": _Unit("ago", lambda span: Cell(None, "never") if span is None else span, ago_cell),
    "seen": _Unit("ago", _build_seen_cell, is_styled=True),
}
_SCREEN_KINDS: Mapping[str, Kind] = {"growth": "rate"}
_TROUBLE_AT = 99

Form = Literal["table", "screen"]
"""Where a column is: in a report, or on the screen."""


def build_columns(kind: str, form: Form, *, with_rates: bool = True) -> list[Column]:
    """Return the columns of a list, which read the line of a row (`row.line`, and in a table `row.level`).
    with_rates: with those that need two rounds."""
    ordered = [
        (figure, shown)
        for figure, shown in _order(kind, form)
        if with_rates or not _UNITS[shown.unit or figure.unit].is_rate
    ]
    columns = [_build_column(figure, shown, form) for figure, shown in ordered]
    if form == "screen":
        columns.insert(sum(shown.at < _TROUBLE_AT for _, shown in ordered), TROUBLE)
    return columns


def list_hideable(kind: str, form: Form) -> list[str]:
    """Return the keys of the columns that a narrow terminal leaves out, the most dispensable first."""
    hideable = sorted((pair for pair in _order(kind, form) if pair[1].hideable), key=lambda p: -p[1].hideable)
    return [shown.key or figure.key for figure, shown in hideable]


def find_grid_key(kind: str, sort: str) -> str:
    """Return the key of the screen's column for a value of `--sort`; the value itself if there is none."""
    if sort == "name":
        return "stream"
    keys = (
        {
            name: shown.key or figure.key
            for figure, shown in _order(kind, "screen")
            for name in (figure.key, figure.sort)
        }
        if kind in FIGURES
        else {}
    )
    return keys.get(sort, sort)


def _build_column(figure: Figure, shown: ColumnPlacement, form: Form) -> Column:
    name = shown.unit or figure.unit
    unit = _UNITS[name]
    get, cell = figure.build_reader(shown), unit.screen if form == "screen" else unit.table

    def read(row: Any) -> Any:
        return get(row.line) if cell is None else cell(get(row.line))

    def read_styled(row: Any) -> Any:
        value = read(row)
        return value._replace(style=STYLES[row.level]) if isinstance(value, Cell) else value

    attribute = shown.read or figure.path
    is_plain = cell is None and isinstance(attribute, str) and attribute and not figure.kind.startswith("ns")
    is_styled = unit.is_styled and form == "table"
    return Column(
        shown.title or figure.title,
        shown.key or figure.key,
        _SCREEN_KINDS.get(name, unit.kind) if form == "screen" else unit.kind,
        read=attrgetter(f"line.{attribute}") if is_plain else read_styled if is_styled else read,
        wide=shown.wide,
        optional=shown.optional,
        quiet=shown.quiet,
    )


def _order(kind: str, form: Form) -> Sequence[tuple[Figure, ColumnPlacement]]:
    """Return the figures of a list that have a column, by its position."""
    own = [(figure, shown) for figure in FIGURES[kind] if (shown := getattr(figure, form)) is not None]
    titled = [(figure, shown) for figure, shown in own if shown.title or figure.title]
    return sorted(titled, key=lambda pair: pair[1].at)
