"""`server watch`: servers, accounts and JetStream, the largest first."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from jsctl.base.units import format_count, format_exact_duration
from jsctl.monitor.server.api_requests import RequestRow
from jsctl.monitor.server.watching import AccountRow, JetStreamRow, ServerRow, Traffic
from jsctl.views.result import Cell, Column, Result, Table

R = TypeVar("R")
Sort = Callable[[Any], Any]

_TRAFFIC = (
    Column("Sent Rate", "sent_rate", "rate"),
    Column("Received Rate", "received_rate", "rate"),
    Column("Sent Msgs", "sent_messages", "count"),
    Column("Sent", "sent_bytes", "bytes"),
    Column("Received Msgs", "received_messages", "count"),
    Column("Received", "received_bytes", "bytes"),
)
_SERVERS = (
    Column("Server", "server"),
    Column("Cluster", "cluster"),
    Column("Connections", "connections", "count"),
    Column("Subs", "subscriptions", "count"),
    Column("Slow", "slow_consumers", "count"),
    Column("Memory", "mem", "bytes"),
    Column("CPU %", "cpu", "number"),
    Column("Cores", "cores", "number"),
    Column("Routes", "routes", "count"),
    Column("Gateways", "gateways", "count"),
    *_TRAFFIC,
)
_ACCOUNTS = (
    Column("Account", "account"),
    Column("Servers", "servers", "count"),
    Column("Connections", "connections", "count"),
    Column("Leaf Nodes", "leafnodes", "count"),
    Column("Subs", "subscriptions", "count"),
    Column("Slow", "slow_consumers", "count"),
    *_TRAFFIC,
)
_JETSTREAM = (
    Column("Server", "server"),
    Column("Cluster", "cluster"),
    Column("HA Assets", "ha_assets", "count"),
    Column("Memory", "memory", "bytes"),
    Column("File", "file", "bytes"),
    Column("API Rate", "api_rate", "rate"),
    Column("API", "api", "count"),
    Column("API Errors", "api_errors", "count"),
    Column("Pending", "pending", "count"),
    Column("Requests", "pending_requests", "count"),
    Column("Infos", "pending_infos", "count"),
    Column("Snapshot", "snapshot", "time"),
    Column("Took", "snapshot_duration", "duration"),
)
_REQUESTS = (
    Column("Type", "type"),
    Column("Account", "account"),
    Column("Count", "count", "count"),
    Column("", "recent", "count"),
    Column("Asset", "asset"),
)
_TRAFFIC_SPARE = ("received_messages", "sent_messages", "received_bytes", "sent_bytes")

SERVER_SORTS: Mapping[str, Sort] = {
    "conns": lambda row: -row.connections,
    "subs": lambda row: -row.subscriptions,
    "sentb": lambda row: -row.traffic.sent_bytes,
    "sentm": lambda row: -row.traffic.sent_messages,
    "recvb": lambda row: -row.traffic.received_bytes,
    "recvm": lambda row: -row.traffic.received_messages,
    "slow": lambda row: -row.slow_consumers,
    "route": lambda row: -row.routes,
    "gway": lambda row: -row.gateways,
    "mem": lambda row: -row.mem,
    "cpu": lambda row: -row.cpu,
    "name": lambda row: 0,
}
ACCOUNT_SORTS: Mapping[str, Sort] = {
    key: SERVER_SORTS[key] for key in ("conns", "subs", "sentb", "sentm", "recvb", "recvm", "slow")
}
JETSTREAM_SORTS: Mapping[str, Sort] = {
    "assets": lambda row: -row.ha_assets,
    "mem": lambda row: -row.memory,
    "file": lambda row: -row.file,
    "api": lambda row: -row.api,
}


def servers(rows: Sequence[ServerRow], order: str, number: int) -> Result:
    """Show servers. order: a key of SERVER_SORTS. number: how many at most; 0 for all."""
    chosen = _select_rows(rows, SERVER_SORTS[order], lambda row: row.server, number)
    lines = [
        (
            row.server,
            row.cluster,
            row.connections,
            row.subscriptions,
            _build_slow_cell(row.slow_consumers),
            row.mem,
            f"{row.cpu:g}",
            row.cores,
            row.routes,
            row.gateways,
            *_build_traffic_values(row.traffic),
        )
        for row in chosen
    ]
    spare = ("cores", "gateways", "routes", *_TRAFFIC_SPARE, "cluster", "subscriptions", "cpu")
    title = _format_title("Servers", len(chosen), len(rows))
    return Result([Table(title, _SERVERS, lines, spare=spare)])


def accounts(rows: Sequence[AccountRow], order: str, number: int) -> Result:
    """Show accounts. order: a key of ACCOUNT_SORTS. number: how many at most; 0 for all."""
    chosen = _select_rows(rows, ACCOUNT_SORTS[order], lambda row: row.account, number)
    lines = [
        (
            Cell(row.account, row.name),
            row.servers,
            row.connections,
            row.leafnodes,
            row.subscriptions,
            _build_slow_cell(row.slow_consumers),
            *_build_traffic_values(row.traffic),
        )
        for row in chosen
    ]
    spare = (*_TRAFFIC_SPARE, "leafnodes", "slow_consumers", "servers")
    return Result([Table(_format_title("Accounts", len(chosen), len(rows)), _ACCOUNTS, lines, spare=spare)])


def jetstream(rows: Sequence[JetStreamRow], order: str, number: int) -> Result:
    """Show JetStream of servers; a star marks leaders. order: a key of JETSTREAM_SORTS. number: how many."""
    chosen = _select_rows(rows, JETSTREAM_SORTS[order], lambda row: row.server, number)
    lines = [
        (
            Cell(row.server, row.server + "*" * row.leads),
            row.cluster,
            row.ha_assets,
            row.memory,
            row.file,
            row.api_rate,
            row.api,
            Cell(row.api_errors, format_count(row.api_errors)),
            row.pending,
            row.pending_requests,
            row.pending_infos,
            row.snapshot or None,
            row.snapshot_duration or None,
        )
        for row in chosen
    ]
    spare = ("snapshot_duration_ns", "pending_infos", "pending_requests", "snapshot", "cluster", "api")
    title = _format_title("JetStream Servers", len(chosen), len(rows))
    return Result([Table(title, _JETSTREAM, lines, spare=spare)])


def requests(
    rows: Sequence[RequestRow], number: int, interval: int, *, reverse: bool, compact: bool
) -> Result:
    """Show requests to the JetStream API, the most frequent first. interval: ns, of `recent`."""
    ordered = sorted(rows, key=lambda row: (-row.recent, -row.count, row.asset))
    chosen = (ordered[::-1] if reverse else ordered)[:number]
    columns = tuple(
        column._replace(title=f"In {format_exact_duration(interval)}") if column.key == "recent" else column
        for column in _REQUESTS
    )
    lines = [
        (
            row.type,
            Cell(row.account, _shorten(row.account)) if compact else row.account,
            row.count,
            row.recent,
            Cell(row.asset, _shorten(row.asset, 40)) if compact else row.asset,
        )
        for row in chosen
    ]
    title = _format_title("JetStream API Requests", len(chosen), len(rows))
    return Result([Table(title, columns, lines, spare=("account",), empty="waiting for requests")])


def _select_rows(rows: Sequence[R], order: Sort, name: Callable[[R], str], number: int) -> list[R]:
    ordered = sorted(rows, key=lambda row: (order(row), name(row)))
    return ordered[:number] if number else ordered


def _format_title(noun: str, shown: int, total: int) -> str:
    return f"{noun}: {shown} of {total}" if shown < total else noun


def _build_slow_cell(count: int) -> Cell:
    return Cell(count, format_count(count), "warn" if count else "")


def _build_traffic_values(traffic: Traffic) -> tuple[Any, ...]:
    return tuple(getattr(traffic, column.key) for column in _TRAFFIC)


def _shorten(name: str, width: int = 20) -> str:
    return name if len(name) <= width else f"{name[: width - 8]}...{name[-5:]}"
