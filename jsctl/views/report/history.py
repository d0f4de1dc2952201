"""Rollups of reports as people see them: tables with trends, and charts. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from jsctl.units import SECOND, format_count
from jsctl.views.result import Cell, Column, Kind, Result, Table, Text

Row = Mapping[str, Any]
Values = Sequence[float | None]

MANY = 300
"""Periods that a trend shows at the most, the latest ones."""


class Series(NamedTuple):
    """A number over time. `times` has the start of each period; None is a period without samples."""

    title: str
    kind: Kind
    times: Sequence[datetime]
    values: Values


def rolled(rows: Mapping[str, int], where: str, took: int) -> Result:
    """`export rollup`: rows by table, ns."""
    total = sum(rows.values())
    text = f"wrote {format_count(total)} row{'' if total == 1 else 's'} to {where} in {took / SECOND:.1f}s"
    return Result([Text(text)], {"rows": dict(rows), "to": where, "seconds": round(took / SECOND, 3)})


def axis(rows: Iterable[Row], daily: bool) -> list[datetime]:
    """All periods from the first to the last, without holes."""
    periods = [row["period"] for row in rows]
    if not periods:
        return []
    step = timedelta(days=1) if daily else timedelta(hours=1)
    at, last = min(periods), max(periods)
    at = max(at, last - step * (MANY - 1))
    found = []
    while at <= last:
        found.append(at)
        at += step
    return found


def series(reports: Mapping[str, Sequence[Row]], daily: bool) -> list[Series]:
    """What all streams together did, and the worst lag of all consumers."""
    streams, consumers = reports["streams"], reports["consumers"]
    times = axis([*streams, *consumers], daily)
    wanted: list[tuple[str, Kind, Sequence[Row], str, Callable[[Iterable[float]], float]]] = [
        ("Bytes in all streams", "bytes", streams, "bytes", sum),
        (f"Messages stored {'a day' if daily else 'an hour'}", "count", streams, "stored", sum),
        ("Worst lag of a consumer", "count", consumers, "lag_max", max),
    ]
    found = []
    for title, kind, rows, column, together in wanted:
        by_period: dict[datetime, list[float]] = {}
        for row in rows:
            if row.get(column) is not None:
                by_period.setdefault(row["period"], []).append(row[column])
        if by_period:
            values = [together(by_period[t]) if t in by_period else None for t in times]
            found.append(Series(title, kind, times, values))
    return found


_Make = Callable[[Values], str]


def tables(
    reports: Mapping[str, Sequence[Row]], movers: Sequence[Row], daily: bool, sparkline: _Make
) -> list[Table]:
    """A table a report, a row a stream, consumer, link or server; what has no rows is left out. The raw
    value of a trend is the list of its values."""
    times = axis([row for rows in reports.values() for row in rows], daily)

    def trend(rows: Sequence[Row], column: str) -> Cell:
        found = {row["period"]: row.get(column) for row in rows}
        values = [found.get(t) for t in times]
        return Cell(values, sparkline(values))

    made = [
        _table(
            "Streams", reports["streams"], ("stream",),
            (("Messages", "messages", "count"), ("Bytes", "bytes", "bytes"), ("Stored", "stored", "count"),
             ("Rate", "rate", "rate"), ("Peak", "peak", "rate"), ("Growth", "growth", "bytes"),
             ("Resets", "resets", "count"), ("Days to limit", "days_to_limit", "text")),
            lambda rows: [
                rows[-1]["messages"], rows[-1]["bytes"], _sum(rows, "stored"), _mean(rows, "message_rate"),
                _most(rows, "peak_rate"), _sum(rows, "growth"), _sum(rows, "resets"), _days(rows[-1]),
            ],
            ("bytes", "message_rate"), trend,
        ),
        _table(
            "Consumers", reports["consumers"], ("stream", "consumer"),
            (("Unprocessed", "unprocessed", "count"), ("Lag p50", "lag_p50", "count"),
             ("p95", "lag_p95", "count"), ("Most", "lag_max", "count"), ("Rate", "rate", "rate")),
            lambda rows: [
                rows[-1]["unprocessed"], round(_mean(rows, "lag_p50") or 0),
                round(_most(rows, "lag_p95") or 0), _most(rows, "lag_max"), _mean(rows, "delivery_rate"),
            ],
            ("lag_max",), trend,
        ),
        _table(
            "Replication", reports["replication"], ("stream", "kind", "origin"),
            (("Lag", "lag", "count"), ("p95", "lag_p95", "count"), ("Most", "lag_max", "count"),
             ("Silent for", "active_max", "duration"), ("Errors", "errors", "count")),
            lambda rows: [
                rows[-1]["lag"], round(_most(rows, "lag_p95") or 0), _most(rows, "lag_max"),
                _most(rows, "active_max"), _sum(rows, "errors"),
            ],
            ("lag_max",), trend,
        ),
        _table(
            "Servers", reports["servers"], ("server", "cluster"),
            (("Bytes", "bytes", "bytes"), ("API rate", "api_rate", "rate"), ("API errors", "errors", "count"),
             ("Restarts", "restarts", "count")),
            lambda rows: [
                rows[-1]["bytes"], _mean(rows, "api_rate"), _sum(rows, "errors"), _sum(rows, "restarts"),
            ],
            ("bytes",), trend,
        ),
        _movers(movers),
    ]  # fmt: skip
    return [table for table in made if table.rows]


def _table(
    title: str,
    rows: Sequence[Row],
    keys: Sequence[str],
    columns: Sequence[tuple[str, str, Kind]],
    values: Callable[[Sequence[Row]], list[Any]],
    trends: Sequence[str],
    trend: Callable[[Sequence[Row], str], Cell],
) -> Table:
    # The context and the domain are shown where they tell rows apart.
    places = [place for place in ("context", "domain") if len({row[place] for row in rows}) > 1]
    by = [*places, *keys]
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in by), []).append(row)
    shown = [
        *(Column(key.capitalize(), key) for key in by),
        *(Column(name, key, kind) for name, key, kind in columns),
        *(Column(f"{name.replace('_', ' ').capitalize()} over time", f"{name}_trend") for name in trends),
    ]
    lines = [
        [*key, *values(one), *(trend(one, name) for name in trends)] for key, one in sorted(groups.items())
    ]
    return Table(title, shown, lines)


_MEASURES = {"stored": "messages stored", "growth": "bytes grown", "shrink": "bytes shrunk"}


def _movers(movers: Sequence[Row]) -> Table:
    """Those of the last day."""
    last = [row for row in movers if row["period"] == movers[0]["period"]]
    columns = [
        Column("What", "measure"), Column("#", "rank", "count"), Column("Stream", "stream"),
        Column("Domain", "domain"), Column("How much", "value", "count"),
    ]  # fmt: skip
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


def _known(rows: Sequence[Row], column: str) -> list[float]:
    return [row[column] for row in rows if row.get(column) is not None]


def _sum(rows: Sequence[Row], column: str) -> Any:
    return sum(_known(rows, column))


def _most(rows: Sequence[Row], column: str) -> Any:
    return max(_known(rows, column), default=None)


def _mean(rows: Sequence[Row], column: str) -> float | None:
    known = _known(rows, column)
    return sum(known) / len(known) if known else None


def _days(row: Row) -> Cell:
    days = row.get("days_to_limit")
    if days is None:
        return Cell(None, "")
    return Cell(days, f"{days:,.1f}", "bad" if days < 1 else "warn" if days < 7 else "")
