"""`report history` and `export rollup`: tables with trends, and charts. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from jsctl.base.units import SECOND, format_bytes, format_count, pluralize, seconds_to_ns, to_datetime
from jsctl.views.result import Cell, Chart, Column, Kind, Result, Table, Text

Row = Mapping[str, Any]
Values = Sequence[float | None]

PAGE_TITLE = "JetStream history"

_HEIGHT = 5  #: lines of a chart

MANY = 300
"""Periods that a trend shows at most, the latest ones."""


class Series(NamedTuple):
    """A number over time.

    times: the start of each period. values: None for a period without samples.
    """

    title: str
    kind: Kind
    times: Sequence[datetime]
    values: Values


def rolled(rows: Mapping[str, int], folder: str, duration: int) -> Result:
    """Return the result of `export rollup`. rows: written, by table. duration: ns."""
    total = sum(rows.values())
    text = f"wrote {pluralize(total, 'row')} to {folder} in {duration / SECOND:.1f}s"
    return Result([Text(text)], {"rows": dict(rows), "to": folder, "seconds": round(duration / SECOND, 3)})


def history(series: Sequence[Series], tables: Sequence[Table], data: Any) -> Result:
    """Return the result of `report history`: a chart for each series, and tables."""
    if not tables:
        return Result([Text("nothing was sampled in that time")], data)
    charts = [Chart(_format_caption(curve), curve.values, "dots", _HEIGHT) for curve in series]
    return Result([*charts, *tables], data)


def _format_caption(series: Series) -> str:
    values = [value for value in series.values if value is not None]
    first, last = (f"{time:%m-%d %H:%M}" for time in (series.times[0], series.times[-1]))
    form = format_bytes if series.kind == "bytes" else format_count
    return f"{series.title}, {first} to {last}: {form(round(values[-1]))}, at most {form(round(max(values)))}"


def page_note(source: str, created: float) -> str:
    """Return the line below the title of a page. source: the name of the folder. created: seconds since
    1970.
    """
    return f"From {source}, created {to_datetime(seconds_to_ns(created)):%Y-%m-%d %H:%M} UTC"


def page_written(file: str, page: str) -> Result:
    """Return the result of --html: what was written to a file, or the page for - (stdout)."""
    if file == "-":
        return Result([Text(page.rstrip("\n"), whole=True)], {"page": page})
    return Result([Text(f"wrote {file} ({len(page.encode()):,} bytes)")], {"file": file})


def axis(rows: Iterable[Row], daily: bool) -> list[datetime]:
    """Return the start of every period from the first to the last, without gaps."""
    periods = [row["period"] for row in rows]
    if not periods:
        return []
    step = timedelta(days=1) if daily else timedelta(hours=1)
    period, last_period = min(periods), max(periods)
    period = max(period, last_period - step * (MANY - 1))
    periods_shown = []
    while period <= last_period:
        periods_shown.append(period)
        period += step
    return periods_shown


def series(reports: Mapping[str, Sequence[Row]], daily: bool) -> list[Series]:
    """Return the sums over all streams, and the largest lag of all consumers."""
    streams, consumers = reports["streams"], reports["consumers"]
    times = axis([*streams, *consumers], daily)
    specifications: list[tuple[str, Kind, Sequence[Row], str, Callable[[Iterable[float]], float]]] = [
        ("Bytes in all streams", "bytes", streams, "bytes", sum),
        (f"Messages stored {'a day' if daily else 'an hour'}", "count", streams, "stored", sum),
        ("Worst lag of a consumer", "count", consumers, "lag_max", max),
    ]
    result = []
    for title, kind, rows, column, aggregate in specifications:
        by_period: dict[datetime, list[float]] = {}
        for row in rows:
            if row.get(column) is not None:
                by_period.setdefault(row["period"], []).append(row[column])
        if by_period:
            values = [aggregate(by_period[t]) if t in by_period else None for t in times]
            result.append(Series(title, kind, times, values))
    return result


_Make = Callable[[Values], str]
_Read = Callable[[Sequence[Row]], Any]
"""Return the value of a column, from the rows of a line."""


class _Layout(NamedTuple):
    """A table of rollups, a row for each of `keys`.

    report: whose rows. columns: read the rows of one line, which are in the order of their periods. trends:
    columns of the rollup that are shown over time.
    """

    title: str
    report: str
    keys: Sequence[str]
    columns: Sequence[Column]
    trends: Sequence[str]


def _list_known(rows: Sequence[Row], name: str) -> list[float]:
    return [row[name] for row in rows if row.get(name) is not None]


def _last(name: str) -> _Read:
    return lambda rows: rows[-1][name]


def _sum(name: str) -> _Read:
    return lambda rows: sum(_list_known(rows, name))


def _max(name: str) -> _Read:
    return lambda rows: max(_list_known(rows, name), default=None)


def _mean(name: str) -> _Read:
    return lambda rows: sum(values) / len(values) if (values := _list_known(rows, name)) else None


def _round(read: _Read) -> _Read:
    return lambda rows: round(read(rows) or 0)


def _build_days_cell(rows: Sequence[Row]) -> Cell:
    days = rows[-1].get("days_to_limit")
    if days is None:
        return Cell(None, "")
    return Cell(days, f"{days:,.1f}", "bad" if days < 1 else "warn" if days < 7 else "")


_LAYOUTS = (
    _Layout(
        title="Streams",
        report="streams",
        keys=("stream",),
        columns=(
            Column("Messages", "messages", "count", read=_last("messages")),
            Column("Bytes", "bytes", "bytes", read=_last("bytes")),
            Column("Stored", "stored", "count", read=_sum("stored")),
            Column("Rate", "rate", "rate", read=_mean("message_rate")),
            Column("Peak", "peak", "rate", read=_max("peak_rate")),
            Column("Growth", "growth", "bytes", read=_sum("growth")),
            Column("Resets", "resets", "count", read=_sum("resets")),
            Column("Days to limit", "days_to_limit", "text", read=_build_days_cell),
        ),
        trends=("bytes", "message_rate"),
    ),
    _Layout(
        title="Consumers",
        report="consumers",
        keys=("stream", "consumer"),
        columns=(
            Column("Unprocessed", "unprocessed", "count", read=_last("unprocessed")),
            Column("Lag p50", "lag_p50", "count", read=_round(_mean("lag_p50"))),
            Column("p95", "lag_p95", "count", read=_round(_max("lag_p95"))),
            Column("Max", "lag_max", "count", read=_max("lag_max")),
            Column("Rate", "rate", "rate", read=_mean("delivery_rate")),
        ),
        trends=("lag_max",),
    ),
    _Layout(
        title="Replication",
        report="replication",
        keys=("stream", "kind", "origin"),
        columns=(
            Column("Lag", "lag", "count", read=_last("lag")),
            Column("p95", "lag_p95", "count", read=_round(_max("lag_p95"))),
            Column("Max", "lag_max", "count", read=_max("lag_max")),
            Column("Silent for", "active_max", "duration", read=_max("active_max")),
            Column("Errors", "errors", "count", read=_sum("errors")),
        ),
        trends=("lag_max",),
    ),
    _Layout(
        title="Servers",
        report="servers",
        keys=("server", "cluster"),
        columns=(
            Column("Bytes", "bytes", "bytes", read=_last("bytes")),
            Column("API rate", "api_rate", "rate", read=_mean("api_rate")),
            Column("API errors", "errors", "count", read=_sum("errors")),
            Column("Restarts", "restarts", "count", read=_sum("restarts")),
        ),
        trends=("bytes",),
    ),
)


def tables(
    reports: Mapping[str, Sequence[Row]], movers: Sequence[Row], daily: bool, sparkline: _Make
) -> list[Table]:
    """Return a table for each report, with a row for each stream, consumer, link or server; a report without
    rows is left out.

    The raw value of a trend is the list of its values.
    """
    times = axis([row for rows in reports.values() for row in rows], daily)

    def trend(rows: Sequence[Row], column: str) -> Cell:
        by_period = {row["period"]: row.get(column) for row in rows}
        values = [by_period.get(time) for time in times]
        return Cell(values, sparkline(values))

    all_tables = [
        *(_build_table(layout, reports[layout.report], trend) for layout in _LAYOUTS),
        _build_movers_table(movers),
    ]
    return [table for table in all_tables if table.rows]


def _build_table(layout: _Layout, rows: Sequence[Row], trend: Callable[[Sequence[Row], str], Cell]) -> Table:
    # The context and the domain are shown only where rows differ in them.
    places = [place for place in ("context", "domain") if len({row[place] for row in rows}) > 1]
    keys = [*places, *layout.keys]
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    columns = [
        *(Column(key.capitalize(), key) for key in keys),
        *layout.columns,
        *(
            Column(f"{name.replace('_', ' ').capitalize()} over time", f"{name}_trend", hideable=rank)
            for rank, name in enumerate(layout.trends, 1)
        ),
    ]
    lines = [
        [
            *key,
            *(column.get(group) for column in layout.columns),
            *(trend(group, name) for name in layout.trends),
        ]
        for key, group in sorted(groups.items())
    ]
    return Table(layout.title, columns, lines)


_MEASURES = {"stored": "messages stored", "growth": "bytes grown", "shrink": "bytes shrunk"}


def _build_movers_table(movers: Sequence[Row]) -> Table:
    """Return the top movers of the last day."""
    last = [row for row in movers if row["period"] == movers[0]["period"]]
    columns = [
        Column("What", "measure"),
        Column("#", "rank", "count"),
        Column("Stream", "stream"),
        Column("Domain", "domain"),
        Column("How much", "value", "count"),
    ]
    rows = [
        [
            _MEASURES.get(row["measure"], row["measure"]),
            row["rank"],
            row["stream"],
            row["domain"],
            row["value"],
        ]
        for row in last
    ]
    day = f"{movers[0]['period']:%Y-%m-%d}" if movers else ""
    return Table(f"Top movers of {day}", columns, rows)
