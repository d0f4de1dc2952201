"""`server watch`: what its verbs share, the largest rows first."""

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from jsctl.base.units import format_count
from jsctl.monitor.server.watching import AccountRow, ServerRow
from jsctl.views.result import Cell, Column, Result, build_table
from jsctl.views.server.reports import build_slow_cell
from jsctl.views.shared.orders import select_largest


def _read_slow(row: ServerRow | AccountRow) -> Cell:
    return build_slow_cell(row.slow_consumers)


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
    Column("Slow", "slow_consumers", "count", sort=("slow",), read=_read_slow),
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
    Column("Slow", "slow_consumers", "count", sort=("slow",), read=_read_slow, hideable=2),
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


def show_largest(
    noun: str, columns: Sequence[Column], rows: Sequence[Any], order: str, number: int
) -> Result:
    """Show the largest rows. order: a name in `sort` of a column. number: how many at most; 0 for all."""
    chosen = select_largest(rows, columns, order, number)
    title = format_title(noun, len(chosen), len(rows))
    return Result([build_table(title, columns, chosen)])


def format_title(noun: str, shown: int, total: int) -> str:
    """Return the title of a table of which not all rows may be shown."""
    return f"{noun}: {shown} of {total}" if shown < total else noun
