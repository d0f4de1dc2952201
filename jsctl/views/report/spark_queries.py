"""The part of `jsctl report` about streaming queries of Spark."""

from collections.abc import Sequence
from typing import Any

from jsctl.base.units import SECOND, compute_age, format_duration, pluralize, seconds_to_ns
from jsctl.monitor.report.spark_queries import SparkQuery
from jsctl.monitor.trouble import BAD, FINE, WARN
from jsctl.views.report.panes import Pane
from jsctl.views.result import Cell, Column, Table, Text
from jsctl.views.shared.figures import STYLES

_COLUMNS = (
    Column("Query", "query"),
    Column("Stream", "stream"),
    Column("Batch", "batch", "count", hideable=3),
    Column("Rows", "rows", "count", hideable=4),
    Column("Behind", "behind", "count"),
    Column("Rows/s", "rate", "rate", hideable=2),
    Column("Drained In", "drain_ns"),
    Column("Lost", "lost", "count"),
    Column("Deleted", "deleted", "count", hideable=5),
    Column("Seen", "seen_ns", "ago", hideable=1),
    Column("Trouble", "trouble", "prose"),
)


def records(queries: Sequence[SparkQuery], now: float) -> list[dict[str, Any]]:
    """Return the JSON form: the numbers of each query, and its `trouble`. now: seconds since 1970."""
    return [
        {**query.record(), "trouble": [words for words, _ in _list_troubles(query, now)]} for query in queries
    ]


def pane(queries: Sequence[SparkQuery], now: float) -> Pane:
    """Return all queries for people. now: seconds since 1970."""
    levels = [max((level for _, level in _list_troubles(query, now)), default=FINE) for query in queries]
    rows = [_build_row(query, level, now) for query, level in zip(queries, levels, strict=True)]
    worst = max(levels, default=FINE)
    wrong = sum(level > FINE for level in levels)
    summary = Text(pluralize(wrong, "problem") if wrong else "all well", STYLES[worst] or "good")
    messages = [] if queries else [Text("No queries yet")]
    table = Table("Spark Queries", _COLUMNS, rows)
    return Pane("Spark", summary, messages, [table] if queries else [])


def _build_row(query: SparkQuery, level: int, now: float) -> list[Any]:
    drain = query.drain_ns
    shown = "unknown" if drain is None else "never" if drain < 0 else format_duration(drain)
    troubles = [words for words, _ in _list_troubles(query, now)]
    return [
        Cell(query.query, query.query, STYLES[level]),
        query.stream,
        query.batch,
        query.rows,
        query.behind,
        query.rate,
        Cell(drain, shown, "bad" if drain is not None and drain < 0 else ""),
        Cell(query.lost, f"{query.lost:,}", "bad" if query.lost else ""),
        query.deleted,
        compute_age(query.at, seconds_to_ns(now)),
        Cell(troubles, ", ".join(troubles), STYLES[level]),
    ]


def _list_troubles(query: SparkQuery, now: float) -> list[tuple[str, int]]:
    """Return what is wrong with a query, in words, with how bad it is."""
    troubles = []
    if query.state == "failed":
        troubles.append((f"failed: {query.error}", BAD))
    elif query.state == "ended":
        troubles.append(("ended", WARN))
    elif query.is_silent(seconds_to_ns(now)):
        silent = compute_age(query.at, seconds_to_ns(now)) // SECOND * SECOND
        troubles.append((f"no progress for {format_duration(silent)}", BAD))
    if query.drain_ns is not None and query.drain_ns < 0:
        troubles.append(("falls behind", WARN))
    if query.lost:
        troubles.append((f"{query.lost:,} lost", BAD))
    return troubles
