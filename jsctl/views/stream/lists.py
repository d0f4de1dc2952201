"""Lists and reports of streams as people see them."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

from jsctl.jetstream.paging import Collected
from jsctl.monitor.reports import ReplicationRow, Report, Snapshot, StreamRow
from jsctl.units import age, format_bytes, format_count, seconds_to_ns
from jsctl.views.result import Cell, Column, Each, Part, Result, Table, Text
from jsctl.views.server.servers import leader_share

Json = dict[str, Any]

_LIST = (
    Column("Name", "name"),
    Column("Description", "description"),
    Column("Created", "created", "time"),
    Column("Messages", "messages", "count"),
    Column("Size", "bytes", "bytes"),
    Column("Last Message", "last_message", "ago"),
)
_REPORT = (
    Column("Stream", "stream"),
    Column("Storage", "storage"),
    Column("Placement", "placement"),
    Column("Consumers", "consumers", "count"),
    Column("Messages", "messages", "count"),
    Column("Bytes", "bytes", "bytes"),
    Column("Lost", "lost", "count"),
    Column("Deleted", "deleted", "count"),
    Column("API Level", "api_level", "count"),
    Column("Replicas", "replicas"),
)
_REPLICATION = (
    Column("Stream", "stream"),
    Column("Kind", "kind"),
    Column("API Prefix", "api_prefix"),
    Column("Source Stream", "source"),
    Column("Filters and Transforms", "filters"),
    Column("Active", "active", "ago"),
    Column("Lag", "lag", "count"),
    Column("Error", "error"),
)

SORTS: dict[str, Callable[[StreamRow], Any]] = {
    "bytes": lambda row: row.bytes,
    "consumers": lambda row: row.consumers,
    "messages": lambda row: row.messages,
    "name": lambda row: "",
    "storage": lambda row: row.storage,
}
"""Orders of a stream report; equal ones go by name."""


class Line(NamedTuple):
    """A stream's line in `stream ls`."""

    name: str
    description: str
    created: str | None
    messages: int
    bytes: int
    last_message: int  #: ns since then, -1 for never


def line(info: Json, now: float) -> Line:
    """The line of a stream's info. now: seconds since the epoch."""
    config, state = info["config"], info["state"]
    return Line(
        config["name"],
        config.get("description", ""),
        info.get("created"),
        state["messages"],
        state["bytes"],
        age(state.get("last_ts"), seconds_to_ns(now)),
    )


def listing(found: Collected[Line], *, subject: str = "", hidden: bool = False) -> Result:
    """`stream ls`: smallest first, as the `nats` tool sorts. hidden: some were left out."""
    data = partial(sorted, found.items)
    if not found.items and not found.missing and not found.offline:
        more = ", pass -a to include system streams" if hidden else ""
        return Result([Text(f"No Streams defined{more}")], data=data)
    lines = sorted(found.items.values(), key=lambda line: (line.bytes, line.name))
    title = f"Streams matching {subject}" if subject else "Streams"
    return Result([Table(title, _LIST, lines), *unreachable(found)], data=data)


def report(found: Report, *, order: str = "bytes", raw: bool = False, leaders: bool = False) -> Result:
    """`stream report`: streams, replication where there is any, leaders where asked."""
    if not found.streams and not found.missing and not found.offline:
        return Result([Text("No Streams defined")], data={"streams": [], "replication": []})
    rows = sorted(found.streams, key=lambda row: (SORTS[order](row), row.stream))
    places = {row.stream: at for at, row in enumerate(rows)} if found.links else {}
    links = sorted(found.links, key=lambda link: places.get(link.stream, len(places)))
    parts: list[Part] = [streams_table(rows, raw)]
    if links:
        parts.append(replication_table(links, raw))
    if leaders:
        parts.extend(leader_parts([(row.cluster or "", row.leader) for row in rows if row.leader], "Streams"))
    parts.extend(unreachable(found))
    return Result(
        parts,
        data=lambda: {
            "streams": (row._asdict() for row in rows),
            "replication": (link._asdict() for link in links),
        },
    )


def streams_table(rows: Sequence[StreamRow], raw: bool = False) -> Table:
    """The Stream Report. raw: numbers as they are."""

    def cells(row: StreamRow) -> tuple[Any, ...]:
        return (
            row.stream,
            Cell(row.storage, row.storage.title()),
            row.placement,
            row.consumers,
            row.messages,
            row.bytes,
            _lost(row, raw),
            row.deleted,
            row.api_level,
            Cell(row.replicas, replicas(row), "bad" if any(p.endswith("!") for p in row.peers) else ""),
        )

    return Table("Stream Report", plain_columns(_REPORT) if raw else _REPORT, Each(rows, cells))


def replication_table(links: Sequence[ReplicationRow], raw: bool = False) -> Table:
    """The Replication Report."""
    return Table(
        "Replication Report",
        plain_columns(_REPLICATION) if raw else _REPLICATION,
        [
            (
                link.stream,
                Cell(link.kind, link.kind.title()),
                link.api_prefix,
                link.origin,
                link.filters,
                link.active,
                link.lag,
                Cell(link.error, link.error, "bad" if link.error else ""),
            )
            for link in links
        ],
    )


def replicas(row: StreamRow) -> str:
    """`n1*, n2, n3!`: the leader with a star, what is behind or off with a mark."""
    names = [f"{row.leader}*"] if row.leader else []
    return ", ".join(sorted([*names, *row.peers]))


def unreachable(found: Collected[Any] | Report | Snapshot) -> list[Table]:
    """Tables of the streams that could not be asked, where there are any."""
    tables = []
    if found.missing:
        tables.append(
            Table("Inaccessible Streams", [Column("Stream", "stream")], [(n,) for n in found.missing])
        )
    if found.offline:
        columns = [Column("Stream", "stream"), Column("Reason", "reason")]
        tables.append(Table("Offline Streams", columns, sorted(found.offline.items())))
    return tables


def dot(links: Iterable[ReplicationRow]) -> str:
    """The replication as a GraphViz graph."""
    lines = ["digraph {", f"  label={_quoted('Stream Replication Structure')};"]
    for link in links:
        color = "blue" if link.kind == "mirror" else "green"
        label = link.filters or link.kind.title()
        origin = f"{link.origin} ({link.api_prefix})" if link.api_prefix else link.origin
        lines.append(
            f"  {_quoted(origin)} -> {_quoted(link.stream)} [color={color}, label={_quoted(label)}];"
        )
    return "\n".join([*lines, "}"]) + "\n"


def leader_parts(leaders: Iterable[tuple[str, str]], what: str) -> list[Part]:
    """Which servers lead how many. leaders: cluster and server of each; what: "Streams"."""
    groups = Counter(leaders)
    if not groups:
        return [Text(f"No leaders: these {what.lower()} are not in a cluster")]
    totals = Counter[str]()
    for (cluster, _), count in groups.items():
        totals[cluster] += count
    ordered = sorted(groups.items(), key=lambda item: (item[0][0], item[1], item[0][1]))
    columns = [
        Column("Server", "server"),
        Column("Cluster", "cluster"),
        Column(what, what.lower(), "count"),
        Column("Distribution", "share"),
    ]
    table = [
        (
            leader,
            cluster,
            count,
            leader_share(count, totals[cluster]),
        )
        for (cluster, leader), count in ordered
    ]
    return [Table("RAFT Leader Report", columns, table)]


def _lost(row: StreamRow, raw: bool) -> Any:
    if not row.lost:
        return 0
    if raw:
        return Cell(row.lost, f"{row.lost} ({row.lost_bytes})", "bad")
    return Cell(row.lost, f"{format_count(row.lost)} ({format_bytes(row.lost_bytes)})", "bad")


def plain_columns(columns: Sequence[Column]) -> list[Column]:
    """The same columns with raw numbers."""
    return [column._replace(kind="text") for column in columns]


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
