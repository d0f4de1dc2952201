"""`jsctl report`: several contexts and domains, their streams, replication and consumers."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from jsctl.errors import ExitStatus
from jsctl.monitor.report import health
from jsctl.monitor.report.places import name_failure
from jsctl.monitor.report.rows import BAD, FINE, WARN, DomainState, Report, Sort, build_report
from jsctl.monitor.report.spark_queries import SparkQuery
from jsctl.units import (
    SECOND,
    format_bytes,
    format_duration,
    format_rfc3339,
    format_time,
    pluralize,
    seconds_to_ns,
)
from jsctl.views.report import spark_queries
from jsctl.views.report.panes import STYLES, Pane, Section
from jsctl.views.report.records import Line, consumer_line, link_line, stream_line
from jsctl.views.result import Cell, Column, Part, Result, Table, Text
from jsctl.views.shared import columns

_STREAMS = (
    columns.STREAM,
    columns.STORAGE,
    columns.CONSUMERS,
    columns.MESSAGES,
    columns.BYTES,
    Column("Msgs/s", "message_rate", "rate"),
    Column("Growth", "byte_rate", "bytes"),
    columns.LOST,
    columns.DELETED,
    Column("Replicas", "peers"),
    Column("Trouble", "trouble", "prose"),
)
_REPLICATION = (
    columns.STREAM,
    columns.KIND,
    columns.API_PREFIX,
    Column("Source Stream", "origin"),
    Column("Filters", "filters"),
    Column("Active", "active_ns", "ago"),
    columns.LAG,
    Column("Lag Trend", "lag_rate"),
    columns.ERROR,
    Column("Trouble", "trouble", "prose"),
)
_CONSUMERS = (
    columns.STREAM,
    Column("Consumer", "consumer"),
    Column("Mode", "mode"),
    Column("Ack Pending", "ack_pending", "count"),
    Column("Redelivered", "redelivered", "count"),
    Column("Unprocessed", "unprocessed", "count"),
    Column("Trend", "unprocessed_rate"),
    Column("Last Delivery", "last_delivery_ns", "ago"),
    Column("Trouble", "trouble", "prose"),
)
_SPARE = {
    "streams": ("deleted", "storage", "consumers", "byte_rate", "lost", "bytes", "peers"),
    "links": ("filters", "api_prefix", "kind", "lag_rate"),
    "consumers": ("mode", "last_delivery_ns", "redelivered", "unprocessed_rate", "ack_pending"),
}
_OPTIONAL = frozenset({"filters", "error", "trouble", "peers"})  #: columns that are left out when all empty
_WATCHED = frozenset({"message_rate", "byte_rate", "lag_rate", "unprocessed_rate"})


def document(
    states: Sequence[DomainState], now: float, queries: Sequence[SparkQuery] | None = None
) -> dict[str, Any]:
    """Return the JSON form: `{"at", "reports": [{"context", "domain", "at", "error", "trouble", "streams",
    "replication", "consumers"}]}`, and `spark` with queries of Spark if they were requested.

    `trouble` is all that is wrong with the account, streams, mirrors, sources and consumers; the same stands
    with each of them. Times are RFC 3339 in UTC; `error` is null when all is well, and the lists are empty
    when it is not; `consumers` is null when they were not asked for or may not be listed; rates are null
    without two answers.
    """
    reports = []
    for state in states:
        error = state.error or None
        report = Report() if error else build_report(state, "name")
        consumers = (
            None if report.consumers is None else [consumer_line(row).record for row in report.consumers]
        )
        reports.append(
            {
                "context": state.context,
                "domain": state.domain,
                "at": _format_utc(state.at),
                "error": error,
                "trouble": _list_troubles(report),
                "streams": [stream_line(row).record for row in report.streams],
                "replication": [link_line(row).record for row in report.links],
                "consumers": consumers,
            }
        )
    spark = {} if queries is None else {"spark": spark_queries.records(queries, now)}
    return {"at": _format_utc(now), "reports": reports, **spark}


def _list_troubles(report: Report) -> list[str]:
    words = [trouble.words for trouble in report.account]
    for stream in report.streams:
        words += [f"stream {stream.stream.stream}: {trouble.words}" for trouble in stream.troubles]
    for link in report.links:
        name = f"{link.link.kind} {link.link.origin} of stream {link.link.stream}"
        words += [f"{name}: {trouble.words}" for trouble in link.troubles]
    for consumer in report.consumers or ():
        name = f"consumer {consumer.stream} > {consumer.consumer}"
        words += [f"{name}: {trouble.words}" for trouble in consumer.troubles]
    return words


def result(
    states: Sequence[DomainState],
    now: float,
    sort: Sort,
    *,
    timed: bool = False,
    queries: Sequence[SparkQuery] | None = None,
) -> Result:
    """Return the static form: the panes one below the other. timed: with the time on the first line."""
    parts: list[Part] = []
    if timed:
        parts.append(Text(format_time(seconds_to_ns(now)), "bold"))
    if queries is not None:
        part = spark_queries.pane(queries, now)
        parts.append(Text(f"{part.title}: {part.summary.text}", part.summary.style or "bold"))
        parts.extend([*part.messages, *(section.table for section in part.sections)])
    for state in states:
        part = pane(state, sort)
        # Only the live screen shows tables from before a failure.
        parts.append(Text(f"{part.title}: {part.summary.text}", part.summary.style or "bold"))
        parts.extend(part.messages)
        if not state.error:
            parts.extend(section.table for section in part.sections)
    return Result(parts, partial(document, states, now, queries), _find_status(states))


def flat(states: Sequence[DomainState], now: float) -> Result:
    """Return the form for CSV and TSV: streams, replication and consumers, with context and domain in every
    row."""
    reports = document(states, now)["reports"]
    parts = []
    for kind in ("streams", "replication", "consumers"):
        rows = [
            {"context": report["context"], "domain": report["domain"], **row}
            for report in reports
            for row in report[kind] or ()
        ]
        if rows or kind == "streams":
            keys = list(rows[0]) if rows else ["context", "domain", "stream"]
            parts.append(
                Table(kind, [Column(key, key) for key in keys], [list(row.values()) for row in rows])
            )
    return Result(parts, reports, _find_status(states))


def failures(states: Sequence[DomainState]) -> list[str]:
    """Return what could not be fetched, one sentence each."""
    sentences = []
    for state in states:
        gaps = [state.error] if state.error else state.history[-1][1].gaps if state.history else []
        sentences += [f"{title(state)}: {gap}" for gap in gaps]
    return sentences


def _name_state(state: DomainState) -> str:
    if state.failure is None:
        return "late"
    return name_failure(state.failure)


def _find_status(states: Sequence[DomainState]) -> ExitStatus:
    failed = [state.failure for state in states if state.failure is not None]
    if not failed:
        return ExitStatus.OK
    return failed[0].status if len(states) == 1 else ExitStatus.UNREACHABLE


def pane(state: DomainState, sort: Sort) -> Pane:
    """Return one context and domain for people."""
    error = state.failure.message if state.failure is not None else state.error
    if not state.history:
        waiting = state.failure is None
        summary = Text("connecting" if waiting else _name_state(state), "dim" if waiting else "bad")
        messages = [] if waiting and not state.waiting else [Text(error, "bad")]
        return Pane(title(state), summary, messages, [], trouble=FINE if waiting else BAD)
    report = build_report(state, sort)
    streams, links = list(map(stream_line, report.streams)), list(map(link_line, report.links))
    consumers = list(map(consumer_line, report.consumers or ()))
    watched = len(state.history) > 1
    everything = [*streams, *links, *consumers]
    messages = [Text(trouble.words, STYLES[BAD if trouble.bad else WARN]) for trouble in report.account]
    sections = [
        section
        for section in (
            _build_section("Stream Report", _STREAMS, streams, "streams", watched, _build_stream_cell),
            _build_section("Replication Report", _REPLICATION, links, "links", watched, _link_cell),
            _build_section(
                "Consumer Report", _CONSUMERS, consumers, "consumers", watched, _build_consumer_cell
            ),
        )
        if section.table.rows
    ]
    if not streams:
        messages.append(Text("No Streams defined"))
    bad = sum(row.level == BAD for row in everything) + sum(t.bad for t in report.account)
    warned = sum(row.level == WARN for row in everything) + sum(not t.bad for t in report.account)
    level = BAD if bad or error else WARN if warned else FINE
    if error:
        since = format_time(state.history[-1][1].at)
        summary = Text(f"{_name_state(state)}, as of {since}", "bad")
        messages.insert(0, Text(error, "bad"))
    elif bad or warned:
        words = [pluralize(bad, "problem")] if bad else []
        words += [pluralize(warned, "warning")] if warned else []
        summary = Text(", ".join(words), STYLES[level])
    else:
        summary = Text("all well", "good")
    return Pane(title(state), summary, messages, sections, dim=bool(error), trouble=level)


def _build_section(
    title: str,
    columns: Sequence[Column],
    rows: Sequence[Line],
    noun: str,
    watched: bool,
    cell: Callable[[str, Line], Any],
) -> Section:
    visible = [
        column
        for column in columns
        if (watched or column.key not in _WATCHED)
        and (
            column.key not in _OPTIONAL
            or any(row.record[column.key] or (column.key == "peers" and row.record["leader"]) for row in rows)
        )
    ]
    lines = [[cell(column.key, row) for column in visible] for row in rows]
    return Section(Table(title, visible, lines, spare=_SPARE[noun]), [row.level for row in rows], noun)


def _build_stream_cell(key: str, row: Line) -> Any:
    value = row.record[key]
    match key:
        case "storage":
            return Cell(value, value.capitalize())
        case "byte_rate" if value is not None:
            sign = "+" if value > 0 else ""
            return Cell(value, f"{sign}{format_bytes(round(value))}/s")
        case "lost" if value:
            return Cell(value, f"{value:,}", "bad")
        case "peers":
            leader = f"{row.record['leader']}*" if row.record["leader"] else ""
            return Cell(value, ", ".join(filter(None, [leader, *value])))
    return _build_common_cell(key, row)


def _link_cell(key: str, row: Line) -> Any:
    value = row.record[key]
    match key:
        case "kind":
            return Cell(value, value.capitalize())
        case "active_ns" if value is None or value >= health.SILENT:
            return Cell(value, "never" if value is None else format_duration(value), STYLES[row.level])
        case "lag_rate":
            return _build_trend_cell(value, row.record["lag"])
        case "error":
            return Cell(value, value, "bad")
    return _build_common_cell(key, row)


def _build_consumer_cell(key: str, row: Line) -> Any:
    value = row.record[key]
    match key:
        case "mode":
            return Cell(value, value.capitalize())
        case "last_delivery_ns" if value is None:
            return Cell(None, "never")
        case "unprocessed_rate":
            return _build_trend_cell(value, row.record["unprocessed"])
    return _build_common_cell(key, row)


def _build_common_cell(key: str, row: Line) -> Any:
    value = row.record[key]
    if key == "trouble":
        return Cell(value, ", ".join(value), STYLES[row.level])
    if key in ("stream", "consumer") and row.level:
        return Cell(value, value, STYLES[row.level])
    return value


def _build_trend_cell(rate: float | None, remaining: int) -> Any:
    """Return `↑ 120/s`, or `↓ 50/s, 12s left`; an empty cell for no change."""
    if rate is None:
        return None
    if not rate:
        return Cell(rate, "")
    shown = f"{abs(rate):,.0f}/s" if abs(rate) >= 10 else f"{abs(rate):,.1f}/s"
    if rate > 0:
        return Cell(rate, f"↑ {shown}", "warn")
    remaining_note = f", {format_duration(round(remaining / -rate) * SECOND)} left" if remaining else ""
    return Cell(rate, f"↓ {shown}{remaining_note}", "good")


def _format_utc(moment: float | None) -> str | None:
    return None if moment is None else format_rfc3339(seconds_to_ns(moment))


def title(state: DomainState) -> str:
    """Return the context, or the address without one; with the domain or the API prefix, if there is
    one.
    """
    name = state.context
    if state.domain:
        return f"{name} · domain {state.domain}"
    return name if state.prefix == "$JS.API" else f"{name} · {state.prefix}"
