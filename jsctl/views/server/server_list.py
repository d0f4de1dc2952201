"""`server list`: the servers and clusters of the network."""

from collections.abc import Sequence
from typing import NamedTuple

from jsctl.base.units import compute_age, format_count, parse_time, seconds_to_ns
from jsctl.monitor.server.rows import Json
from jsctl.views.result import Cell, Column, Result, Table, build_cells
from jsctl.views.server.servers import short_names
from jsctl.views.shared.orders import find_order, list_orders


class Row(NamedTuple):
    """A server. uptime and rtt: ns; mem: bytes; cpu: percent; gateways: outgoing."""

    name: str
    cluster: str
    host: str
    version: str
    domain: str
    jetstream: bool
    connections: int
    subscriptions: int
    routes: int
    gateways: int
    mem: int
    cpu: float
    cores: int
    slow: int
    uptime: int
    rtt: int
    gateways_in: int


def _build_jetstream_cell(row: Row) -> Cell:
    return Cell(row.jetstream, (row.domain or "yes") if row.jetstream else "no")


def _build_slow_cell(row: Row) -> Cell:
    return Cell(row.slow, format_count(row.slow), "warn" if row.slow else "")


SERVERS = (
    Column("Name", "name", sort=("name",)),
    Column("Cluster", "cluster", sort=("cluster",)),
    Column("Host", "host", hideable=5),
    Column("Version", "version", hideable=2),
    Column("JS", "jetstream", read=_build_jetstream_cell),
    Column("Conns", "connections", "count", sort=("conns",)),
    Column("Subs", "subscriptions", "count", sort=("subs",), hideable=7),
    Column("Routes", "routes", "count", sort=("routes",), hideable=8),
    Column("GWs", "gateways", "count", sort=("gws",), hideable=9),
    Column("Mem", "mem", "bytes", sort=("mem",), hideable=1),
    Column(
        "CPU %",
        "cpu",
        "number",
        sort=("cpu",),
        read=lambda row: f"{row.cpu:g}",
        rank=lambda row: row.cpu,
        hideable=3,
    ),
    Column("Cores", "cores", "number", hideable=10),
    Column("Slow", "slow", "count", sort=("slow",), read=_build_slow_cell, hideable=4),
    Column("Uptime", "uptime", "duration", sort=("uptime",), hideable=6),
    Column(
        "RTT",
        "rtt",
        "duration",
        sort=("rtt",),
        read=lambda row: row.rtt if row.rtt >= 0 else None,
        rank=lambda row: row.rtt,
    ),
)
SORTS = list_orders(SERVERS)
_CLUSTERS = (
    Column("Cluster", "cluster"),
    Column("Node Count", "nodes", "count"),
    Column("Outgoing Gateways", "outgoing_gateways", "count", hideable=1),
    Column("Incoming Gateways", "incoming_gateways", "count", hideable=2),
    Column("Connections", "connections", "count"),
)


def listing(
    replies: Sequence[tuple[Json, int]], now: float, *, order: str, reverse: bool, compact: bool
) -> Result:
    """Show the servers and, when they have clusters, the clusters.

    replies: those to a ping, with their round-trip times in ns. now: seconds since the epoch.
    """
    pairs = [(build_row(reply, rtt, now), reply) for reply, rtt in replies]
    column = find_order(SERVERS, order)
    pairs.sort(key=lambda pair: column.get_rank(pair[0]), reverse=reverse)
    rows = [row for row, _ in pairs]
    parts = [_build_server_table(rows, compact)]
    clusters = sorted({row.cluster for row in rows if row.cluster})
    if clusters:
        parts.append(_build_cluster_table(rows, clusters))
    return Result(parts, data=[reply for _, reply in pairs])


def build_row(reply: Json, rtt: int, now: float) -> Row:
    """Return the row of a server's reply. Pooled routes to a server count once (server/route.go).

    rtt: ns. now: seconds since 1970.
    """
    server, stats = reply.get("server") or {}, reply.get("statsz") or {}
    gateways = stats.get("gateways") or []
    return Row(
        name=str(server.get("name", "")),
        cluster=str(server.get("cluster", "")),
        host=str(server.get("host", "")),
        version=str(server.get("ver", "")),
        domain=str(server.get("domain", "")),
        jetstream=bool(server.get("jetstream")),
        connections=int(stats.get("connections", 0)),
        subscriptions=int(stats.get("subscriptions", 0)),
        routes=len({route.get("name") or route.get("rid") for route in stats.get("routes") or []}),
        gateways=len(gateways),
        mem=int(stats.get("mem", 0)),
        cpu=float(stats.get("cpu", 0)),
        cores=int(stats.get("cores", 0)),
        slow=int(stats.get("slow_consumers", 0)),
        uptime=compute_age(_start(stats), seconds_to_ns(now)),
        rtt=rtt,
        gateways_in=sum(int(gateway.get("inbound_connections", 0)) for gateway in gateways),
    )


def _start(stats: Json) -> str | None:
    start = stats.get("start")
    try:
        return start if isinstance(start, str) and parse_time(start) else None
    except ValueError:
        return None


def _build_server_table(rows: Sequence[Row], compact: bool) -> Table:
    names = [row.name for row in rows]
    shown = short_names(names) if compact else names
    lines = build_cells(rows, SERVERS)
    for line, name in zip(lines, shown, strict=True):
        line[0] = Cell(line[0], name)
    footer = (
        "",
        str(len({row.cluster for row in rows if row.cluster})),
        str(len(rows)),
        "",
        str(sum(row.jetstream for row in rows)),
        sum(row.connections for row in rows),
        sum(row.subscriptions for row in rows),
        None,
        None,
        sum(row.mem for row in rows),
        "",
        None,
        sum(row.slow for row in rows),
        None,
        None,
    )
    return Table("Server Overview", SERVERS, lines, footer)


def _build_cluster_table(rows: Sequence[Row], clusters: Sequence[str]) -> Table:
    lines = []
    for name in clusters:
        members = [row for row in rows if row.cluster == name]
        lines.append(
            (
                name,
                len(members),
                sum(row.gateways for row in members),
                sum(row.gateways_in for row in members),
                sum(row.connections for row in members),
            )
        )
    footer = ("", *(sum(line[index] for line in lines) for index in range(1, 5)))  # type: ignore[misc]
    return Table("Cluster Overview", _CLUSTERS, lines, footer)
