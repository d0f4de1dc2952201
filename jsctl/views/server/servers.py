"""Servers as people see them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jsctl.monitor.server.rows import JetStreamRow, Json, build_jetstream_row
from jsctl.monitor.trouble import is_away
from jsctl.views.result import Cell, Column, Part, Result, Table, Text
from jsctl.views.shared.leaders import leader_table
from jsctl.views.shared.orders import find_order, list_orders

SUMMARY = (
    Column("Server", "server", sort=("name",)),
    Column("Cluster", "cluster", sort=("cluster",)),
    Column("Domain", "domain"),
    Column("Streams", "streams", "count", sort=("streams",)),
    Column("Consumers", "consumers", "count", sort=("consumers",)),
    Column("Messages", "messages", "count", sort=("msgs",)),
    Column("Bytes", "bytes", "bytes", sort=("mbytes", "bytes")),
    Column("Memory", "memory", "bytes", sort=("mem",)),
    Column("File", "file", "bytes", sort=("file", "store")),
    Column("API Req", "api", "count", sort=("api",)),
    Column("API Err", "errors", "count", sort=("err",)),
    Column("Pending", "pending", "count"),
    Column("Quorum Sz", "quorum", "count"),
    Column("Rescuing", "rescue", "bool"),
)
SORTS = list_orders(SUMMARY)
"""Orders of the JetStream summary; equal ones go by name."""
_HIDEABLE = (
    "quorum",
    "rescue",
    "pending",
    "api",
    "memory",
    "file",
    "domain",
    "cluster",
    "errors",
    "consumers",
)
_OPTIONAL = ("domain", "quorum", "rescue")
"""Columns that are left out where no server has them, and that have no total."""
_META = (
    Column("Connection Name", "name"),
    Column("ID", "id"),
    Column("Leader", "leader"),
    Column("Current", "current", "bool"),
    Column("Online", "online"),
    Column("Active", "active", "duration"),
    Column("Lag", "lag", "count"),
)


@dataclass(frozen=True, slots=True)
class JetStreamReport:
    """What `server report jetstream` shows.

    account: the one account that the numbers are of, empty for all. order: one of SORTS. compact: leave out
    what all server names end in. leaders: with the tables of Raft leaders. partial: not all servers were
    asked, so the meta group is not judged.
    """

    account: str = ""
    order: str = "cluster"
    reverse: bool = False
    compact: bool = True
    leaders: bool = False
    partial: bool = False


def jetstream_report(replies: Sequence[Json], report: JetStreamReport) -> Result:
    """Return the report. replies: of the servers to PING.JSZ."""
    pairs = sorted(
        ((build_jetstream_row(reply, report.account), reply) for reply in replies),
        key=lambda pair: pair[0].server,
    )
    column = find_order(SUMMARY, report.order)
    pairs.sort(key=lambda pair: column.get_rank(pair[0]), reverse=report.reverse)
    rows = [row for row, _ in pairs]
    parts: list[Part] = [_build_summary(rows, report.account, report.compact)]
    if not report.partial:
        parts.extend(_list_meta_groups(replies, report.compact))
    if report.leaders:
        for title, name in (("Stream Leaders", "stream_leaders"), ("Consumer Leaders", "consumer_leaders")):
            counts = {(row.cluster, row.server): count for row in rows if (count := getattr(row, name))}
            parts.append(leader_table(counts, Column(title, "count", "count")))
    return Result(parts, data=[reply for _, reply in pairs])


def short_names(names: Sequence[str]) -> list[str]:
    """Return host names without the domain that all of them end in: `n1.example.net` is `n1`. Addresses and
    single names stay whole."""
    parts = [name.split(".") for name in names]
    if len(names) < 2 or any(len(labels) < 2 or labels[-1].isdigit() for labels in parts):
        return list(names)
    shared = 0
    while shared < min(map(len, parts)) - 1 and len({labels[-1 - shared] for labels in parts}) == 1:
        shared += 1
    return [".".join(labels[: len(labels) - shared]) for labels in parts]


def _build_summary(rows: Sequence[JetStreamRow], account: str, compact: bool) -> Table:
    names = [row.server for row in rows]
    shown = short_names(names) if compact else names
    keep = [
        at
        for at, column in enumerate(SUMMARY)
        if column.key not in _OPTIONAL or any(getattr(row, column.key) not in ("", None) for row in rows)
    ]
    lines: list[list[Any]] = []
    for row, name in zip(rows, shown, strict=True):
        server = Cell(row.server, name + ("*" if row.leads else ""))
        lines.append([server, *(getattr(row, SUMMARY[at].key) for at in keep[1:])])
    totals = [_total(rows, SUMMARY[at], account) for at in keep]
    title = f"JetStream Summary for Account {account}" if account else "JetStream Summary"
    return Table(title, [SUMMARY[at] for at in keep], lines, totals, _HIDEABLE)


def _total(rows: Sequence[JetStreamRow], column: Column, account: str) -> Any:
    if column.kind == "text" or column.key in _OPTIONAL:
        return ""
    if account and column.key in ("api", "errors"):
        # Each server of a cluster reports the requests of the account to all servers of that cluster.
        clusters: dict[tuple[str, str], int] = {}
        for row in rows:
            place = row.domain, row.cluster or row.server
            clusters[place] = max(clusters.get(place, 0), getattr(row, column.key))
        return sum(clusters.values())
    return sum(getattr(row, column.key) for row in rows)


def _list_meta_groups(replies: Sequence[Json], compact: bool) -> list[Part]:
    metas = [(reply["server"]["name"], (reply.get("data") or {}).get("meta_cluster")) for reply in replies]
    groups = [(name, meta) for name, meta in metas if meta]
    led = [meta for name, meta in groups if meta.get("leader") == name]
    if not groups:
        return []
    if not led:
        size = max(int(meta.get("cluster_size", 0)) for _, meta in groups)
        return [
            Text(
                f"WARNING: no cluster meta leader groups. The cluster expects {size} nodes, {len(groups)}"
                f" answered. JetStream needs at least {size // 2 + 1}.",
                "bad",
            )
        ]
    return [
        _build_meta_group_table(meta, compact)
        for meta in sorted(led, key=lambda meta: str(meta.get("name", "")))
    ]


def _build_meta_group_table(meta: Json, compact: bool) -> Table:
    leader = {"name": meta["leader"], "peer": meta.get("peer", ""), "current": True}
    peers = sorted([*(meta.get("replicas") or []), leader], key=lambda peer: str(peer["name"]))
    names = [str(peer["name"]) for peer in peers]
    shown = short_names(names) if compact else names
    rows = [
        (
            Cell(peer["name"], name),
            peer.get("peer", ""),
            "yes" if peer["name"] == meta["leader"] else "",
            bool(peer.get("current")),
            Cell(False, "false", "bad") if is_away(peer) else Cell(True, "true"),
            int(peer.get("active", 0)),
            int(peer.get("lag", 0)),
        )
        for peer, name in zip(peers, shown, strict=True)
    ]
    title = f"RAFT Meta Group Information - Lead cluster: {meta.get('name', '')}"
    return Table(title, _META, rows, hideable=("id", "active_ns"))
