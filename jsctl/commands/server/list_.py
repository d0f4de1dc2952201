"""`jsctl server list`."""

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import click

from jsctl.base.units import (
    NEVER,
    SECOND,
    compute_age,
    pluralize,
    read_known_time,
    seconds_to_ns,
    to_ns,
)
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import argument, command, option
from jsctl.commands.server.report.flags import ARCHIVE
from jsctl.env import Env
from jsctl.errors import BadInput, ExitStatus
from jsctl.monitor.server.requests import fetch_servers
from jsctl.views.result import (
    Cell,
    Column,
    Result,
    Table,
    build_cells,
    build_footer,
    build_table,
    count_distinct,
)
from jsctl.views.server.reports import build_column, build_slow_cell, count_all
from jsctl.views.server.short_names import short_names
from jsctl.views.shared.orders import find_order, list_orders

Json = dict[str, Any]


def _build_jetstream_cell(row: Json) -> Cell:
    is_on = bool(row["server"].get("jetstream"))
    return Cell(is_on, (row["server"].get("domain") or "yes") if is_on else "no")


def _build_slow_cell(row: Json) -> Cell:
    return build_slow_cell(int(row["statsz"].get("slow_consumers", 0)))


def _count_routes(row: Json) -> int:
    """Return the number of servers at the other end of routes; pooled ones count once (server/route.go)."""
    return len({route.get("name") or route.get("rid") for route in row["statsz"].get("routes") or []})


def _count_inbound(row: Json) -> int:
    return sum(int(gateway.get("inbound_connections", 0)) for gateway in row["statsz"].get("gateways") or [])


def _count_outbound(row: Json) -> int:
    return len(row["statsz"].get("gateways") or [])


def _read_cpu(row: Json) -> float:
    return float(row["statsz"].get("cpu", 0))


_CONNECTIONS = build_column("Conns", "connections", "count", "statsz.connections", sort=("conns",), total=sum)
COLUMNS = (
    build_column("Name", "name", path="server.name", sort=("name",)),
    build_column("Cluster", "cluster", path="server.cluster", sort=("cluster",), total=count_distinct),
    build_column("Host", "host", path="server.host", hideable=5, total=count_all),
    build_column("Version", "version", path="server.ver", hideable=2),
    Column("JS", "jetstream", read=_build_jetstream_cell, total=lambda values: str(sum(values))),
    _CONNECTIONS,
    build_column(
        *("Subs", "subscriptions", "count", "statsz.subscriptions"), sort=("subs",), hideable=7, total=sum
    ),
    Column("Routes", "routes", "count", sort=("routes",), read=_count_routes, hideable=8),
    Column("GWs", "gateways", "count", sort=("gws",), read=_count_outbound, hideable=9),
    build_column("Mem", "mem", "bytes", "statsz.mem", sort=("mem",), hideable=1, total=sum),
    Column(
        *("CPU %", "cpu", "number"),
        sort=("cpu",),
        read=lambda row: f"{_read_cpu(row):g}",
        rank=_read_cpu,
        hideable=3,
    ),
    build_column("Cores", "cores", "number", "statsz.cores", hideable=10),
    Column("Slow", "slow", "count", sort=("slow",), read=_build_slow_cell, hideable=4, total=sum),
    Column("Uptime", "uptime", "duration", sort=("uptime",), read=itemgetter("uptime"), hideable=6),
    Column(
        *("RTT", "rtt", "duration"),
        sort=("rtt",),
        read=lambda row: row["rtt"] if row["rtt"] >= 0 else None,
        rank=itemgetter("rtt"),
    ),
)
_CLUSTERS = (
    Column("Cluster", "cluster", read=itemgetter(0)),
    Column("Node Count", "nodes", "count", read=lambda cluster: len(cluster[1]), total=sum),
    Column(
        *("Outgoing Gateways", "outgoing_gateways", "count"),
        read=lambda cluster: sum(map(_count_outbound, cluster[1])),
        hideable=1,
        total=sum,
    ),
    Column(
        *("Incoming Gateways", "incoming_gateways", "count"),
        read=lambda cluster: sum(map(_count_inbound, cluster[1])),
        hideable=2,
        total=sum,
    ),
    Column(
        *("Connections", "connections", "count"),
        read=lambda cluster: sum(map(_CONNECTIONS.get_raw, cluster[1])),
        total=sum,
    ),
)


def _show_servers(
    replies: Sequence[tuple[Json, int]], now: float, *, order: str, reverse: bool, compact: bool
) -> Result:
    """Show the servers and, when they have clusters, the clusters.

    replies: those to a ping, with their round-trip times in ns. now: seconds since 1970. A row is a reply,
    with `rtt` and `uptime` in ns.
    """
    pairs = [(_build_row(reply, rtt, now), reply) for reply, rtt in replies]
    column = find_order(COLUMNS, order)
    pairs.sort(key=lambda pair: column.get_rank(pair[0]), reverse=reverse)
    rows = [row for row, _ in pairs]
    lines = build_cells(rows, COLUMNS)
    if compact:
        for line, name in zip(lines, short_names([line[0] for line in lines]), strict=True):
            line[0] = Cell(line[0], name)
    parts = [Table("Server Overview", COLUMNS, lines, build_footer(rows, COLUMNS))]
    members: dict[str, list[Json]] = {}
    for row in rows:
        members.setdefault(row["server"].get("cluster") or "", []).append(row)
    if clusters := sorted((name, own) for name, own in members.items() if name):
        parts.append(build_table("Cluster Overview", _CLUSTERS, clusters))
    return Result(parts, data=[reply for _, reply in pairs])


def _build_row(reply: Json, rtt: int, now: float) -> Json:
    statistics = reply.get("statsz") or {}
    start = statistics.get("start")
    try:
        uptime = compute_age(start if isinstance(start, str) else None, seconds_to_ns(now))
    except ValueError:
        uptime = NEVER
    return {
        **reply,
        "server": reply.get("server") or {},
        "statsz": statistics,
        "rtt": rtt,
        "uptime": uptime,
    }


@command(
    "list",
    columns=COLUMNS,
    examples=["jsctl server list --context system", "jsctl server list 9 --sort name"],
)
@argument("expect", type=click.IntRange(min=1), required=False)
@option("--sort", "order", type=click.Choice(list_orders(COLUMNS)), default="rtt", help="Sort by this")
@option("--reverse", "-R", is_flag=True, help="Largest first")
@option("--compact/--no-compact", default=True, help="Leave out the domain that all server names share")
@option(*ARCHIVE[0], default="", **ARCHIVE[1])
async def list_(
    env: Env, expect: int | None, order: str, reverse: bool, compact: bool, archive: str
) -> Result:
    """Wait for EXPECT servers, if given; fewer are a failure. A login of the system account is needed."""
    if archive:
        replies, now = _read_archived(archive)
    else:
        replies, now = await fetch_servers(await env.connection(), expect or 0), env.clock()
    result = _show_servers(replies, now, order=order, reverse=reverse, compact=compact)
    if expect and len(replies) < expect:
        env.say(f"{len(replies)} of {pluralize(expect, 'server')} replied")
        return result._replace(status=ExitStatus.FAILURE)
    return result


def _read_archived(path: str) -> tuple[list[tuple[Json, int]], float]:
    """Return the servers in an archive, without round-trip times, and when it was gathered."""
    from jsctl.monitor.audit.archive import METADATA, Archive
    from jsctl.monitor.audit.replay import build_pings

    with Archive(str(expand_home(path))) as archive:
        pings = [(reply, NEVER) for reply in build_pings(archive)]
        captured_at = str(archive.load_special(METADATA).get("capture_timestamp") or "")
    try:
        return pings, to_ns(captured_at) / SECOND if read_known_time(captured_at) else 0.0
    except ValueError:
        raise BadInput(f"{path} is damaged", "the time at which it was gathered is not valid") from None
