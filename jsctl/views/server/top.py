"""`top`: what servers do, and their connections."""

from collections.abc import Sequence

from jsctl.base.units import format_bytes, format_count, format_duration, pluralize
from jsctl.monitor.server.requests import Json
from jsctl.monitor.server.top import ServerLoad, TopRow
from jsctl.views.result import Column, Kind, Result, Table, Text, build_cells


def top(load: ServerLoad, rows: Sequence[TopRow], *, raw: bool, subscriptions: bool, closed: bool) -> Result:
    """Show connections below what their servers do.

    raw: bytes as digits. subscriptions: with their subjects. closed: with why they have ended.
    """
    columns = _columns(raw, subscriptions, closed)
    table = Table(
        "Connections",
        columns,
        build_cells(rows, columns),
        empty="there are no connections",
    )
    document = {"server": _record(load), "connections": table.records()}
    return Result([Text("\n".join(_build_summary(load, raw))), table], data=document)


def _columns(raw: bool, subscriptions: bool, closed: bool) -> list[Column]:
    size: Kind = "number" if raw else "bytes"
    return [
        Column("Host", "host", hideable=2),
        Column("CID", "cid", "number"),
        Column("Name", "name", optional=True),
        Column("Server", "server", hideable=1),
        Column("Account", "account", hideable=9),
        Column("Subs", "subs", "count"),
        Column("Pending", "pending", size, hideable=3),
        Column("Msgs To", "msgs_to", "count", hideable=4),
        Column("Msgs From", "msgs_from", "count", hideable=5),
        Column("Bytes To", "bytes_to", size, hideable=7),
        Column("Bytes From", "bytes_from", size, hideable=8),
        Column("To Rate", "msgs_to_rate", "rate"),
        Column("From Rate", "msgs_from_rate", "rate"),
        Column("Bytes To/s", "bytes_to_rate", size, hideable=10),
        Column("Bytes From/s", "bytes_from_rate", size, hideable=11),
        Column("RTT", "rtt", "duration", hideable=13),
        Column("Idle", "idle", "ago", hideable=6),
        Column("Uptime", "uptime", "ago", hideable=15),
        Column("Lang", "lang", hideable=14),
        Column("Version", "version", hideable=16),
        *([Column("Reason", "reason")] if closed else []),
        *([Column("Subscriptions", "subjects", "prose", hideable=12)] if subscriptions else []),
    ]


def _build_summary(load: ServerLoad, raw: bool) -> list[str]:
    def size(value: float) -> str:
        return str(round(value)) if raw else format_bytes(round(value))

    in_rate, out_rate, in_bytes, out_bytes = load.rates
    servers = len(load.names)
    heading = f"Server {load.names[0]}" if servers == 1 else pluralize(servers, "server")
    return [
        f"{heading}, version {load.version}, up {format_duration(load.uptime)},"
        f" {pluralize(load.connections, 'connection')}",
        f"CPU {load.cpu:.1f}% of {pluralize(load.cores, 'core')}, memory {format_bytes(load.mem)},"
        f" slow consumers {format_count(load.slow_consumers)}",
        f"In:  {pluralize(load.in_msgs, 'message')}, {size(load.in_bytes)}; per second {in_rate:,.1f},"
        f" {size(in_bytes)}",
        f"Out: {pluralize(load.out_msgs, 'message')}, {size(load.out_bytes)}; per second {out_rate:,.1f},"
        f" {size(out_bytes)}",
    ]


def _record(load: ServerLoad) -> Json:
    in_rate, out_rate, in_bytes, out_bytes = load.rates
    return {
        "names": list(load.names),
        "version": load.version,
        "uptime_ns": load.uptime,
        "cpu": load.cpu,
        "cores": load.cores,
        "mem": load.mem,
        "slow_consumers": load.slow_consumers,
        "connections": load.connections,
        "in_msgs": load.in_msgs,
        "out_msgs": load.out_msgs,
        "in_bytes": load.in_bytes,
        "out_bytes": load.out_bytes,
        "in_msgs_rate": round(in_rate, 3),
        "out_msgs_rate": round(out_rate, 3),
        "in_bytes_rate": round(in_bytes, 3),
        "out_bytes_rate": round(out_bytes, 3),
    }
