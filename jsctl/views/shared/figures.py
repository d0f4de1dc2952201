"""The figures of a report as columns: of tables, and of the screen. Pure."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from operator import attrgetter, itemgetter
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from jsctl.base.units import (
    MINUTE,
    SECOND,
    format_bytes,
    format_count,
    format_duration,
    format_exact_duration,
    format_server_time,
    truncate_to_seconds,
)
from jsctl.jetstream.config.consumer_fields import ACK_POLICY
from jsctl.monitor.consumer.rows import ConsumerLine
from jsctl.monitor.report.figures.figure import ColumnPlacement, Figure
from jsctl.monitor.report.figures.lists import FIGURES
from jsctl.monitor.rules import objects
from jsctl.monitor.trouble import FINE, WARN, find_level
from jsctl.views.result import Cell, Column, Kind, Style
from jsctl.views.shared.tables import raw_columns

STYLES: tuple[Style, ...] = ("", "warn", "bad")
"""The styles of FINE, WARN and BAD."""


def _list_troubles(row: Any) -> str:
    return ", ".join(trouble.words for trouble in row.line.troubles) if row.line.troubles else ""


TROUBLE = Column("Trouble", "trouble", "prose", read=_list_troubles, path="troubles", optional=True)


class Line(NamedTuple):
    """A row of a table. line: of a list. record: its JSON object. level: FINE, WARN or BAD."""

    line: Any
    record: Mapping[str, Any] = MappingProxyType({})
    level: int = FINE


class _Unit(NamedTuple):
    """How people read a figure. table, screen: make a cell of a value; None shows the value as it is.
    raw: makes it with numbers in full (`--raw`), where `table` would round them.
    is_rate: whether it needs two rounds. is_value: whether the cells of `screen` have the value itself.
    is_styled: whether its cells have the style of their row's level in
    a table, as a screen marks whole rows."""

    kind: Kind
    table: Callable[[Any], Any] | None = None
    screen: Callable[[Any], Any] | None = None
    is_rate: bool = False
    is_styled: bool = False
    raw: Callable[[Any], Any] | None = None
    is_value: bool = False


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
        return Cell(value, "")
    return Cell(value, f"{'+' if rounded > 0 else '-'}{format_bytes(abs(rounded))}/s")


@lru_cache(1024, typed=True)
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


@lru_cache(1024, typed=True)
def ago_cell(span: int | None) -> Any:
    """Return a cell for the time (ns) since something, None for never."""
    return (
        Cell(None, "never", "dim")
        if span is None
        else Cell(span, format_exact_duration(truncate_to_seconds(span)))
    )


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


def _build_lost_cell(value: tuple[int, int], format_number: Callable[[int], str] = format_count) -> Any:
    """Return `3 (1.5 KiB)`, with numbers in full where that is not their format."""
    lost, size = value
    size_text = format_bytes(size) if format_number is format_count else format_number(size)
    return Cell(lost, f"{format_number(lost)} ({size_text})", "bad") if lost else 0


def _build_replicas_cell(value: tuple[int, Sequence[str]]) -> Cell:
    """Return `n1*, n2, n3!`: `*` marks the leader and `!` a server that is behind or offline."""
    count, names = value
    style: Style = "bad" if any(name.endswith("!") for name in names) else ""
    return Cell(count, ", ".join(sorted(names)), style)


def _build_limited_cell(value: tuple[int, int]) -> Any:
    """Return `5 / 5` for a number that is at its limit."""
    count, limit = value
    if not 0 < limit <= count:
        return count
    return Cell(count, f"{format_count(count)} / {format_count(limit)}", "bad")


def _build_shared_cell(value: tuple[int, float, bool]) -> Any:
    """Return `5 / 50%`, with the share of what it is a part of."""
    count, share, is_idle = value
    if not count:
        return count
    return Cell(count, f"{format_count(count)} / {int(share * 100)}%", "warn" if is_idle else "")


def _build_interest_cell(value: tuple[str, int, bool]) -> Any:
    """Return the pulls that wait, or whether somebody listens."""
    mode, pulls, is_bound = value
    return pulls if mode == "pull" else Cell(int(is_bound), "bound" if is_bound else "no interest")


def _build_state_cell(value: tuple[str | None, Sequence[str]]) -> Cell:
    paused_until, pinned = value
    states = [f"paused until {format_server_time(paused_until)}"] if paused_until else []
    text = ", ".join([*states, *(f"pinned {pin}" for pin in pinned)])
    return Cell(text, text, "warn" if paused_until else "")


def _build_troubles_cell(line: ConsumerLine) -> Cell:
    # The column before already says that it is paused.
    text = ", ".join(words for words in line.trouble if words != "paused" or not line.paused_until)
    return Cell(text, text, STYLES[find_level(line.troubles) or WARN])


def _build_group_cell(value: tuple[Sequence[str], bool]) -> Cell:
    names, is_without_leader = value
    text = ", ".join(names)
    if is_without_leader:
        return Cell(text, f"no leader: {text}" if text else "no leader", "bad")
    return Cell(text, text, "bad" if any(name.endswith("!") for name in names) else "")


UNITS: Mapping[str, _Unit] = {
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
    "lost": _Unit("count", _build_lost_cell, raw=lambda value: _build_lost_cell(value, str)),
    "replicas": _Unit("text", _build_replicas_cell),
    "ack_policy": _Unit("text", lambda policy: Cell(policy, ACK_POLICY.describe(policy))),
    "duration": _Unit(
        "duration", raw=lambda span: None if span is None else Cell(span, format_exact_duration(span))
    ),
    "limited": _Unit("count", _build_limited_cell, raw=itemgetter(0)),
    "warn_count": _Unit("count", lambda count: Cell(count, f"{count:,}", "warn") if count else 0, raw=int),
    "shared": _Unit("count", _build_shared_cell, raw=itemgetter(0)),
    "interest": _Unit("count", _build_interest_cell),
    "state": _Unit("prose", _build_state_cell),
    "troubles": _Unit("prose", _build_troubles_cell),
    "group": _Unit("text", _build_group_cell),
    "rate": _Unit("rate", None, rate_cell, is_rate=True, is_value=True),
    "event_rate": _Unit("rate", None, lambda value: rate_cell(*value)),
    "growth": _Unit("bytes", _build_growth_cell, growth_cell, is_rate=True, is_value=True),
    "slope": _Unit("text", _build_slope_cell, is_rate=True),
    "share": _Unit("percent", None, share_cell, is_value=True),
    "remaining": _Unit("duration", None, remaining_cell, is_value=True),
    "remaining_hour": _Unit("duration", None, lambda span: remaining_cell(span, 60 * MINUTE), is_value=True),
    "drain": _Unit("duration", None, drain_cell, is_value=True),
    "since": _Unit(
        "ago", lambda span: Cell(None, "never") if span is None else span, ago_cell, is_value=True
    ),
    "seen": _Unit("ago", _build_seen_cell, is_styled=True),
}
"""The units of figures, and how people read each."""
_SCREEN_KINDS: Mapping[str, Kind] = {"growth": "rate"}
_TROUBLE_AT = 99

Form = Literal["table", "screen", "own"]
"""Where a column is: in `report`, on its screen, or in the report of its noun."""


def build_columns(kind: str, form: Form, *, with_rates: bool = True, raw: bool = False) -> list[Column]:
    """Return the columns of a list, which read the line of a row (`row.line`, and in a table `row.level`).
    with_rates: with those that need two rounds. raw: with numbers in full."""
    ordered = [
        (figure, shown)
        for figure, shown in _order(kind, form)
        if with_rates or not UNITS[shown.unit or figure.unit].is_rate
    ]
    columns = [_build_column(figure, shown, form, raw) for figure, shown in ordered]
    if form == "screen":
        columns.insert(sum(shown.at < _TROUBLE_AT for _, shown in ordered), TROUBLE)
    return raw_columns(columns) if raw else columns


def find_grid_key(kind: str, sort: str) -> str:
    """Return the key of the screen's column for a value of `--sort`; the value itself if there is none."""
    if sort in ("", "name"):
        return sort and "stream"
    keys = (
        {
            name: shown.key or figure.key
            for figure, shown in _order(kind, "screen")
            for name in (figure.key, figure.sort)
        }
        if kind in FIGURES
        else {}
    )
    return keys.get(sort, sort if kind in FIGURES else sort.removesuffix("_ns"))


def _build_column(figure: Figure, shown: ColumnPlacement, form: Form, raw: bool) -> Column:
    name = shown.unit or figure.unit
    unit = UNITS[name]
    get, cell = figure.build_reader(shown), unit.screen if form == "screen" else unit.table
    cell = unit.raw if raw and unit.raw else cell

    def read(row: Any) -> Any:
        return get(row.line) if cell is None else cell(get(row.line))

    def read_styled(row: Any) -> Any:
        value = read(row)
        return value._replace(style=STYLES[row.level]) if isinstance(value, Cell) else value

    attribute = shown.read or figure.path
    is_attribute = isinstance(attribute, str) and attribute and not figure.kind.startswith("ns")
    by_attribute = attrgetter(f"line.{attribute}") if is_attribute else None
    has_value = cell is None or (unit.is_value and form == "screen")
    is_styled = unit.is_styled and form == "table"
    column = Column(
        shown.title or figure.title,
        shown.key or figure.key,
        _SCREEN_KINDS.get(name, unit.kind) if form == "screen" else unit.kind,
        sort=tuple(filter(None, (shown.key or figure.attribute, figure.sort))) if form == "own" else (),
        read=(cell is None and by_attribute) or (read_styled if is_styled else read),
        raw=by_attribute or (lambda row: get(row.line)) if has_value else None,
        path=figure.screen_path if form == "screen" else "",
        wide=shown.wide,
        optional=shown.optional,
        quiet=shown.quiet,
        hideable=shown.hideable,
    )

    def rank(row: Any) -> tuple[bool, Any]:
        value = column.get_raw(row)
        return value is not None, value

    return column._replace(rank=rank)


def _order(kind: str, form: Form) -> Sequence[tuple[Figure, ColumnPlacement]]:
    """Return the figures of a list that have a column, by its position."""
    own = [(figure, shown) for figure in FIGURES[kind] if (shown := getattr(figure, form)) is not None]
    titled = [(figure, shown) for figure, shown in own if shown.title or figure.title]
    return sorted(titled, key=lambda pair: pair[1].at)
