"""`server list`: the servers and clusters of the network."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from jsctl.base.units import compute_age, format_count, parse_time, seconds_to_ns
from jsctl.views.result import Cell, Column, Result, Table
from jsctl.views.server.servers import short_names

Json = dict[str, Any]


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


SORTS: Mapping[str, Callable[[Row], Any]] = {
    "rtt": lambda row: row.rtt,
    "name": lambda row: row.name,
    "cluster": lambda row: row.cluster,
    "conns": lambda row: row.connections,
    "subs": lambda row: row.subscriptions,
    "routes": lambda row: row.routes,
    "gws": lambda row: row.gateways,
    "mem": lambda row: row.mem,
    "cpu": lambda row: row.cpu,
    "slow": lambda row: row.slow,
    "uptime": lambda row: row.uptime,
}

_SERVERS = (
    Column("Name", "name"),
    Column("Cluster", "cluster"),
    Column("Host", "host"),
    Column("Version", "version"),
    Column("JS", "jetstream"),
    Column("Conns", "connections", "count"),
    Column("Subs", "subscriptions", "count"),
    Column("Routes", "routes", "count"),
    Column("GWs", "gateways", "count"),
    Column("Mem", "mem", "bytes"),
    Column("CPU %", "cpu", "number"),
    Column("Cores", "cores", "number"),
    Column("Slow", "slow", "count"),
    Column("Uptime", "uptime", "duration"),
    Column("RTT", "rtt", "duration"),
)
_SPARE = (
    "cores",
    "gateways",
    "routes",
    "subscriptions",
    "uptime_ns",
    "host",
    "slow",
    "cpu",
    "version",
    "mem",
)
_CLUSTERS = (
    Column("Cluster", "cluster"),
    Column("Node Count", "nodes", "count"),
    Column("Outgoing Gateways", "outgoing_gateways", "count"),
    Column("Incoming Gateways", "incoming_gateways", "count"),
    Column("Connections", "connections", "count"),
)


def listing(
    replies: Sequence[tuple[Json, int]], now: float, *, order: str, reverse: bool, compact: bool
) -> Result:
    """Show the servers and, when they have clusters, the clusters.

    replies: those to a ping, with their round-trip times in ns. now: seconds since the epoch.
    """
    rows = sorted((build_row(reply, rtt, now) for reply, rtt in replies), key=SORTS[order], reverse=reverse)
    parts = [_build_server_table(rows, compact)]
    clusters = sorted({row.cluster for row in rows if row.cluster})
    if clusters:
        parts.append(_build_cluster_table(rows, clusters))
    return Result(parts, data=[reply for reply, _ in replies])


def build_row(reply: Json, rtt: int, now: float) -> Row:
    """Return the row of a server's reply. Pooled routes to a server count once (server/route.go)."""
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
    lines = [
        (
            Cell(row.name, name),
            row.cluster,
            row.host,
            row.version,
            Cell(row.jetstream, (row.domain or "yes") if row.jetstream else "no"),
            row.connections,
            row.subscriptions,
            row.routes,
            row.gateways,
            row.mem,
            f"{row.cpu:g}",
            row.cores,
            Cell(row.slow, format_count(row.slow), "warn" if row.slow else ""),
            row.uptime,
            row.rtt if row.rtt >= 0 else None,
        )
        for row, name in zip(rows, shown, strict=True)
    ]
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
    return Table("Server Overview", _SERVERS, lines, footer, _SPARE)


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
    return Table("Cluster Overview", _CLUSTERS, lines, footer, ("incoming_gateways", "outgoing_gateways"))
