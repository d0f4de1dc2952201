"""`jsctl server report jetstream`."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter

import click

from jsctl.commands.cli import command, option
from jsctl.commands.options.watch import Report
from jsctl.commands.server.report.flags import (
    Flags,
    build_server_filter,
    is_reversed,
    report_answers,
    report_flags,
)
from jsctl.env import Env
from jsctl.monitor.server import requests
from jsctl.monitor.server.rows import JetStreamRow, Json, build_jetstream_row
from jsctl.monitor.trouble import is_away
from jsctl.views.result import Cell, Column, Part, Result, Table, Text, build_cells, build_footer, build_table
from jsctl.views.server.reports import build_column
from jsctl.views.server.short_names import short_names
from jsctl.views.shared.leaders import leader_table
from jsctl.views.shared.orders import find_order, list_orders

COLUMNS = (
    Column("Server", "server", sort=("name",)),
    Column("Cluster", "cluster", sort=("cluster",), hideable=3),
    Column("Domain", "domain", hideable=4, optional=True),
    Column("Streams", "streams", "count", sort=("streams",), total=sum),
    Column("Consumers", "consumers", "count", sort=("consumers",), hideable=1, total=sum),
    Column("Messages", "messages", "count", sort=("msgs",), total=sum),
    Column("Bytes", "bytes", "bytes", sort=("mbytes", "bytes"), total=sum),
    Column("Memory", "memory", "bytes", sort=("mem",), hideable=6, total=sum),
    Column("File", "file", "bytes", sort=("file", "store"), hideable=5, total=sum),
    Column("API Req", "api", "count", sort=("api",), hideable=7, total=sum),
    Column("API Err", "errors", "count", sort=("err",), hideable=2, total=sum),
    Column("Pending", "pending", "count", hideable=8, total=sum),
    Column("Quorum Sz", "quorum", "count", hideable=10, optional=True),
    Column("Rescuing", "rescue", "bool", hideable=9, optional=True),
)
_META = (
    Column("Connection Name", "name", read=itemgetter("name")),
    build_column("ID", "id", path="peer", hideable=2),
    Column("Leader", "leader", read=lambda peer: "yes" if peer.get("leads") else ""),
    build_column("Current", "current", "bool"),
    Column(
        "Online",
        "online",
        read=lambda peer: Cell(False, "false", "bad") if is_away(peer) else Cell(True, "true"),
    ),
    Column("Active", "active", "duration", read=lambda peer: int(peer.get("active", 0)), hideable=1),
    build_column("Lag", "lag", "count"),
)


@dataclass(frozen=True, slots=True)
class JetStreamReport:
    """What `server report jetstream` shows.

    account: the one account that the numbers are of, empty for all. order: a name in `sort` of a column;
    equal ones go by name. compact: leave out what all server names end in. leaders: with the tables of Raft
    leaders. partial: not all servers were asked, so the meta group is not judged.
    """

    account: str = ""
    order: str = "cluster"
    reverse: bool = False
    compact: bool = True
    leaders: bool = False
    partial: bool = False


def show_report(replies: Sequence[Json], report: JetStreamReport) -> Result:
    """Return the report. replies: of the servers to PING.JSZ."""
    pairs = sorted(
        ((build_jetstream_row(reply, report.account), reply) for reply in replies),
        key=lambda pair: pair[0].server,
    )
    column = find_order(COLUMNS, report.order)
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


def _build_summary(rows: Sequence[JetStreamRow], account: str, compact: bool) -> Table:
    names = [row.server for row in rows]
    shown = short_names(names) if compact else names
    # A domain or a meta group that no server has is not shown; that no rescue is under way is.
    columns = [
        column._replace(optional=False)
        for column in COLUMNS
        if not column.optional or any(column.get_raw(row) not in ("", None) for row in rows)
    ]
    lines = build_cells(rows, columns)
    for line, row, name in zip(lines, rows, shown, strict=True):
        line[0] = Cell(row.server, name + "*" * row.leads)
    totals = build_footer(rows, columns)
    if account:
        # Each server of a cluster reports the requests of the account to all servers of that cluster.
        clusters = defaultdict[tuple[str, str], list[JetStreamRow]](list)
        for row in rows:
            clusters[row.domain, row.cluster or row.server].append(row)
        for at, column in enumerate(columns):
            if column.key in ("api", "errors"):
                totals[at] = sum(max(map(column.get_raw, cluster)) for cluster in clusters.values())
    title = f"JetStream Summary for Account {account}" if account else "JetStream Summary"
    return Table(title, columns, lines, totals)


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
    leader = {"name": meta["leader"], "peer": meta.get("peer", ""), "current": True, "leads": True}
    peers = sorted([*(meta.get("replicas") or []), leader], key=lambda peer: str(peer["name"]))
    names = [str(peer["name"]) for peer in peers]
    shown = map(Cell, names, short_names(names) if compact else names)
    rows = [{**peer, "name": name} for peer, name in zip(peers, shown, strict=True)]
    title = f"RAFT Meta Group Information - Lead cluster: {meta.get('name', '')}"
    return build_table(title, _META, rows)


@command(
    "jetstream",
    columns=COLUMNS,
    examples=[
        "jsctl server report jetstream --user admin --password admin",
        "jsctl server report jetstream --account ACC --sort msgs",
    ],
)
@option("--account", metavar="ACCOUNT", default="", help="Report on this account")
@option("--sort", "order", type=click.Choice(list_orders(COLUMNS)), default="cluster", help="Sort by this")
@option("--compact/--no-compact", default=True, help="Leave out the domain that all server names share")
@option("--leaders", "-l", is_flag=True, help="Show how many streams and consumers each server leads")
@report_flags
async def jetstream(
    env: Env,
    limit: int | None,
    account: str,
    order: str,
    compact: bool,
    leaders: bool,
    servers: Flags,
) -> Report:
    """Stop waiting once LIMIT servers have answered."""
    server_filter = build_server_filter(servers)
    report = JetStreamReport(
        account=account,
        order=order,
        reverse=is_reversed(env),
        compact=compact,
        leaders=leaders,
        partial=bool(server_filter.body() or limit),
    )
    ask = partial(requests.fetch_jetstream, account=account, server_filter=server_filter, expect=limit or 0)
    show = partial(show_report, report=report)
    return await report_answers(env, "JSZ", servers, ask, show, {"account": account})
