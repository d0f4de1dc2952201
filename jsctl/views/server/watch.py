"""`server watch`: servers, accounts and JetStream, the largest first."""

from collections.abc import Sequence
from operator import attrgetter

from jsctl.base.units import format_count, format_exact_duration
from jsctl.monitor.server.api_requests import RequestRow
from jsctl.monitor.server.watching import AccountRow, JetStreamRow, ServerRow
from jsctl.views.result import Cell, Column, Result, Table, build_cells
from jsctl.views.shared.orders import list_orders, select_largest


def _build_slow_cell(row: ServerRow | AccountRow) -> Cell:
    count = row.slow_consumers
    return Cell(count, format_count(count), "warn" if count else "")


_TRAFFIC = (
    Column("Sent Rate", "sent_rate", "rate", read=attrgetter("traffic.sent_rate")),
    Column("Received Rate", "received_rate", "rate", read=attrgetter("traffic.received_rate")),
    Column(
        "Sent Msgs",
        "sent_messages",
        "count",
        sort=("sentm",),
        read=attrgetter("traffic.sent_messages"),
        hideable=8,
    ),
    Column("Sent", "sent_bytes", "bytes", sort=("sentb",), read=attrgetter("traffic.sent_bytes"), hideable=6),
    Column(
        "Received Msgs",
        "received_messages",
        "count",
        sort=("recvm",),
        read=attrgetter("traffic.received_messages"),
        hideable=9,
    ),
    Column(
        "Received",
        "received_bytes",
        "bytes",
        sort=("recvb",),
        read=attrgetter("traffic.received_bytes"),
        hideable=7,
    ),
)
SERVERS = (
    Column("Server", "server", sort=("name",)),
    Column("Cluster", "cluster", hideable=3),
    Column("Connections", "connections", "count", sort=("conns",)),
    Column("Subs", "subscriptions", "count", sort=("subs",), hideable=2),
    Column("Slow", "slow_consumers", "count", sort=("slow",), read=_build_slow_cell),
    Column("Memory", "mem", "bytes", sort=("mem",)),
    Column(
        "CPU %",
        "cpu",
        "number",
        sort=("cpu",),
        read=lambda row: f"{row.cpu:g}",
        rank=attrgetter("cpu"),
        hideable=1,
    ),
    Column("Cores", "cores", "number", hideable=12),
    Column("Routes", "routes", "count", sort=("route",), hideable=10),
    Column("Gateways", "gateways", "count", sort=("gway",), hideable=11),
    *_TRAFFIC,
)
ACCOUNTS = (
    Column("Account", "account", read=lambda row: Cell(row.account, row.name)),
    Column("Servers", "servers", "count", hideable=1),
    Column("Connections", "connections", "count", sort=("conns",)),
    Column("Leaf Nodes", "leafnodes", "count", hideable=3),
    Column("Subs", "subscriptions", "count", sort=("subs",)),
    Column("Slow", "slow_consumers", "count", sort=("slow",), read=_build_slow_cell, hideable=2),
    *_TRAFFIC,
)
JETSTREAM = (
    Column("Server", "server", read=lambda row: Cell(row.server, row.server + "*" * row.leads)),
    Column("Cluster", "cluster", hideable=2),
    Column("HA Assets", "ha_assets", "count", sort=("assets",)),
    Column("Memory", "memory", "bytes", sort=("mem",)),
    Column("File", "file", "bytes", sort=("file",)),
    Column("API Rate", "api_rate", "rate"),
    Column("API", "api", "count", sort=("api",), hideable=1),
    Column(
        "API Errors",
        "api_errors",
        "count",
        read=lambda row: Cell(row.api_errors, format_count(row.api_errors)),
    ),
    Column("Pending", "pending", "count"),
    Column("Requests", "pending_requests", "count", hideable=4),
    Column("Infos", "pending_infos", "count", hideable=5),
    Column("Snapshot", "snapshot", "time", read=lambda row: row.snapshot or None, hideable=3),
    Column(
        "Took", "snapshot_duration", "duration", read=lambda row: row.snapshot_duration or None, hideable=6
    ),
)
REQUESTS = (
    Column("Type", "type"),
    Column("Account", "account", hideable=1),
    Column("Count", "count", "count"),
    Column("", "recent", "count"),
    Column("Asset", "asset"),
)

SERVER_SORTS = list_orders(SERVERS)
ACCOUNT_SORTS = list_orders(ACCOUNTS)
JETSTREAM_SORTS = list_orders(JETSTREAM)


def servers(rows: Sequence[ServerRow], order: str, number: int) -> Result:
    """Show servers. order: one of SERVER_SORTS. number: how many at most; 0 for all."""
    chosen = select_largest(rows, SERVERS, order, number)

    title = _format_title("Servers", len(chosen), len(rows))
    return Result([Table(title, SERVERS, build_cells(chosen, SERVERS))])


def accounts(rows: Sequence[AccountRow], order: str, number: int) -> Result:
    """Show accounts. order: one of ACCOUNT_SORTS. number: how many at most; 0 for all."""
    chosen = select_largest(rows, ACCOUNTS, order, number)

    title = _format_title("Accounts", len(chosen), len(rows))
    return Result([Table(title, ACCOUNTS, build_cells(chosen, ACCOUNTS))])


def jetstream(rows: Sequence[JetStreamRow], order: str, number: int) -> Result:
    """Show JetStream of servers; a star marks leaders. order: one of JETSTREAM_SORTS. number: how many."""
    chosen = select_largest(rows, JETSTREAM, order, number)

    title = _format_title("JetStream Servers", len(chosen), len(rows))
    return Result([Table(title, JETSTREAM, build_cells(chosen, JETSTREAM))])


def requests(
    rows: Sequence[RequestRow], number: int, interval: int, *, reverse: bool, compact: bool
) -> Result:
    """Show requests to the JetStream API, the most frequent first. interval: ns, of `recent`."""
    ordered = sorted(rows, key=lambda row: (-row.recent, -row.count, row.asset))
    chosen = (ordered[::-1] if reverse else ordered)[:number]
    columns = tuple(
        column._replace(title=f"In {format_exact_duration(interval)}") if column.key == "recent" else column
        for column in REQUESTS
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
    return Result([Table(title, columns, lines, empty="waiting for requests")])


def _format_title(noun: str, shown: int, total: int) -> str:
    return f"{noun}: {shown} of {total}" if shown < total else noun


def _shorten(name: str, width: int = 20) -> str:
    return name if len(name) <= width else f"{name[: width - 8]}...{name[-5:]}"
