"""`stream report`: streams in numbers, and what they replicate."""

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

from jsctl.base.units import NEVER, format_bytes, format_count
from jsctl.monitor.origins import Report
from jsctl.monitor.report.figures.lists import ROW_KEYS
from jsctl.monitor.stream.rows import ReplicationRow, StreamRow
from jsctl.views.result import Cell, Column, LazySequence, Part, Result, Table, build_cells, recorder
from jsctl.views.shared.leaders import leader_report
from jsctl.views.shared.orders import sort_rows
from jsctl.views.shared.tables import raw_columns, unreachable_streams
from jsctl.views.shared.text import quote_for_dot

STREAMS = (
    Column("Stream", "stream", sort=("name",)),
    Column("Storage", "storage", sort=("storage",)),
    Column("Placement", "placement"),
    Column("Consumers", "consumers", "count", sort=("consumers",)),
    Column("Messages", "messages", "count", sort=("messages",)),
    Column("Bytes", "bytes", "bytes", sort=("bytes",)),
    Column("Lost", "lost", "count"),
    Column("Deleted", "deleted", "count"),
    Column("API Level", "api_level", "count"),
    Column("Replicas", "replicas"),
)
_REPLICATION = (
    Column("Stream", "stream"),
    Column("Kind", "kind", read=lambda link: Cell(link.kind, link.kind.title())),
    Column("API Prefix", "api_prefix"),
    Column("Source Stream", "source", read=attrgetter("origin")),
    Column("Filters and Transforms", "filters"),
    Column(
        *("Active", "active", "ago"),
        read=lambda link: Cell(None, "never") if link.active == NEVER else link.active,
    ),
    Column("Lag", "lag", "count"),
    Column(
        *("Error", "error", "prose"),
        read=lambda link: Cell(link.error, link.error, "bad" if link.error else ""),
    ),
)
_PLACE_KEYS = ("context", "domain")


def report(streams: Report, *, order: str = "bytes", raw: bool = False, leaders: bool = False) -> Result:
    """Show the report of `stream report`: streams, replication if there is any, leaders on request.

    order: a name in `sort` of a column; streams that are equal in it go by name. raw: show numbers in full.
    """
    if not streams.streams and not streams.missing and not streams.offline:
        table = streams_table((), raw)._replace(empty="No Streams defined")
        return Result([table], data={"streams": [], "replication": []})
    by_name = sorted(streams.streams, key=lambda row: row.stream)
    rows = sort_rows(by_name, STREAMS, order)
    places = {row.stream: index for index, row in enumerate(rows)} if streams.links else {}
    links = sorted(streams.links, key=lambda link: places.get(link.stream, len(places)))
    parts: list[Part] = [streams_table(rows, raw)]
    if links:
        parts.append(replication_table(links, raw))
    if leaders:
        parts.append(
            leader_report([(row.cluster or "", row.leader) for row in rows if row.leader], "Streams")
        )
    parts.extend(unreachable_streams(streams.missing, streams.offline))
    return Result(
        parts,
        data=lambda: {
            "streams": map(recorder((*_PLACE_KEYS, *ROW_KEYS["streams"])), rows),
            "replication": map(recorder((*_PLACE_KEYS, *ROW_KEYS["replication"])), links),
        },
    )


def streams_table(rows: Sequence[StreamRow], raw: bool = False) -> Table:
    """Return the Stream Report. raw: show numbers in full."""

    def cells(row: StreamRow) -> tuple[Any, ...]:
        return (
            row.stream,
            Cell(row.storage, row.storage.title()),
            row.placement,
            row.consumers,
            row.messages,
            row.bytes,
            _build_lost_cell(row, raw),
            row.deleted,
            row.api_level,
            Cell(row.replicas, replicas(row), "bad" if any(p.endswith("!") for p in row.peers) else ""),
        )

    columns = raw_columns(STREAMS) if raw else STREAMS
    hideable = ("api_level", "placement", "deleted", "storage", "lost", "replicas", "consumers")
    return Table("Stream Report", columns, LazySequence(rows, cells), hideable=hideable)


def replication_table(links: Sequence[ReplicationRow], raw: bool = False) -> Table:
    """Return the Replication Report. raw: show numbers in full."""
    return Table(
        "Replication Report",
        raw_columns(_REPLICATION) if raw else _REPLICATION,
        build_cells(links, _REPLICATION),
        hideable=("filters", "kind", "api_prefix", "active_ns"),
    )


def replicas(row: StreamRow) -> str:
    """Format replicas: `n1*, n2, n3!`, where `*` marks the leader and `!` a server that is behind or
    offline.
    """
    names = [f"{row.leader}*"] if row.leader else []
    return ", ".join(sorted([*names, *row.peers]))


def dot(links: Iterable[ReplicationRow]) -> str:
    """Return the replication as a GraphViz graph."""
    lines = ["digraph {", f"  label={quote_for_dot('Stream Replication Structure')};"]
    for link in links:
        color = "blue" if link.kind == "mirror" else "green"
        label = link.filters or link.kind.title()
        origin = f"{link.origin} ({link.api_prefix})" if link.api_prefix else link.origin
        edge = f"{quote_for_dot(origin)} -> {quote_for_dot(link.stream)}"
        lines.append(f"  {edge} [color={color}, label={quote_for_dot(label)}];")
    return "\n".join([*lines, "}"]) + "\n"


def _build_lost_cell(row: StreamRow, raw: bool) -> Any:
    if not row.lost:
        return 0
    if raw:
        return Cell(row.lost, f"{row.lost} ({row.lost_bytes})", "bad")
    return Cell(row.lost, f"{format_count(row.lost)} ({format_bytes(row.lost_bytes)})", "bad")
