"""`server report accounts`, `connections`, `cpu`, `gateways`, `health`, `leafnodes`, `mem`, `routes`."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from jsctl.monitor.server.reports import AccountRow, ConnectionRow, HealthRow, Json, LinkRow
from jsctl.views.result import Cell, Column, Result, Table, build_cells
from jsctl.views.shared.orders import find_order, list_orders, sort_rows

_TRAFFIC = (
    Column("In Msgs", "in_msgs", "count", sort=("in-msgs",), hideable=19),
    Column("Out Msgs", "out_msgs", "count", sort=("out-msgs",), hideable=20),
    Column("In Bytes", "in_bytes", "bytes", sort=("in-bytes",), hideable=16),
    Column("Out Bytes", "out_bytes", "bytes", sort=("out-bytes",), hideable=17),
    Column("Subs", "subs", "count", sort=("subs",), hideable=3),
)
ACCOUNTS = (
    Column("Account", "account"),
    Column("Connections", "connections", "count", sort=("conns",)),
    *_TRAFFIC,
)
CONNECTIONS = (
    Column("CID", "cid", sort=("cid",), rank=lambda row: int(row.cid.lstrip("L"))),
    Column("Name", "name", hideable=13),
    Column("Server", "server"),
    Column("Cluster", "cluster", hideable=15),
    Column("IP", "address", hideable=18),
    Column("Account", "account"),
    Column("Uptime", "uptime", "duration", sort=("uptime",), hideable=14),
    *_TRAFFIC,
)
_REASON = Column("Reason", "reason")
_SERVER_COUNTS = (
    Column("Server", "server"),
    Column("Cluster", "cluster"),
    Column("Connections", "connections", "count"),
)
_BY_NAME = tuple(
    Column(name.title(), name, sort=(name,)) for name in ("server", "cluster", "name", "account")
)
LEAFNODES = (
    Column("Server", "server"),
    Column("Name", "name"),
    Column("Account", "account"),
    Column("Address", "address", hideable=18),
    Column("RTT", "rtt", "duration", hideable=2),
    *_TRAFFIC,
    Column("Compressed", "compression", hideable=22),
    Column("Spoke", "spoke", "bool", hideable=5),
)
ROUTES = (
    Column("Server", "server"),
    Column("Cluster", "cluster", hideable=1),
    Column("Name", "name"),
    Column("Account", "account", hideable=7),
    Column("Address", "address", hideable=9),
    Column("ID", "id", hideable=8),
    Column("Uptime", "uptime", "duration", hideable=4),
    Column("RTT", "rtt", "duration", hideable=2),
    Column("Subs", "subs", "count", hideable=3),
    Column("Bytes In", "in_bytes", "bytes", hideable=5),
    Column("Bytes Out", "out_bytes", "bytes", hideable=6),
)
GATEWAYS = (
    Column("Server", "server"),
    Column("Cluster", "cluster", hideable=1),
    Column("Kind", "kind"),
    Column("Name", "name"),
    Column("Address", "address", hideable=6),
    Column("ID", "id", hideable=5),
    Column("Uptime", "uptime", "duration", hideable=4),
    Column("RTT", "rtt", "duration", hideable=2),
    Column("Bytes", "bytes", "bytes"),
    Column("Port", "port", "number", hideable=7),
    Column("Accounts", "accounts", "count", hideable=3),
)
HEALTH = (
    Column("Server", "server"),
    Column("Cluster", "cluster"),
    Column("Domain", "domain", hideable=1),
    Column("Status", "status"),
    Column("Type", "type", hideable=2),
    Column("Error", "error", "prose"),
)

ACCOUNT_SORTS = list_orders(ACCOUNTS)
CONNECTION_SORTS = list_orders(CONNECTIONS)
_LINKS = (*_BY_NAME, *_TRAFFIC)
LINK_SORTS = list_orders(_LINKS)
_BAR = 30  #: columns of the longest bar


def accounts(rows: Sequence[AccountRow], order: str, reverse: bool, top: int, *, one: bool = False) -> Result:
    """Report on accounts, the largest last. order: one of ACCOUNT_SORTS. top: how many of the largest. one:
    whether the document is that of the only account, and no list."""
    shown_rows = sort_rows(rows, ACCOUNTS, order, reverse=reverse)
    shown_rows = shown_rows[:top] if reverse else shown_rows[-top:]
    table = Table(
        f"{len(shown_rows)} Accounts Overview",
        ACCOUNTS,
        build_cells(shown_rows, ACCOUNTS),
        rising=not reverse,
    )
    data = [_build_account_document(row) for row in shown_rows]
    return Result([table], data=data[0] if one else data)


def _build_account_document(row: AccountRow) -> Json:
    """Return an account with its connections and their servers, in the shape of `nats`; name and subs are
    ours."""
    servers = {document["server"].get("id"): document["server"] for document in row.documents}
    numbers = {column.key: getattr(row, column.key) for column in ACCOUNTS[1:]}
    return {
        "account": row.id,
        "name": row.account,
        **numbers,
        "subscriptions": row.subs,
        "connection_info": row.documents,
        "server": list(servers.values()),
    }


def connections(
    rows: Sequence[ConnectionRow], order: str, reverse: bool, top: int, *, closed: bool
) -> Result:
    """Report on connections. order: one of CONNECTION_SORTS. closed: with why they were closed."""
    shown_rows = sort_rows(rows, CONNECTIONS, order, reverse=reverse)
    shown_rows = shown_rows[:top] if reverse else shown_rows[-top:]
    columns = (*CONNECTIONS, _REASON) if closed else CONNECTIONS
    totals = [
        "",
        f"{len(shown_rows)}",
        *[""] * 5,
        *(sum(getattr(row, c.key) for row in shown_rows) for c in _TRAFFIC),
    ]
    title = f"Top {len(shown_rows)} Connections out of {len(rows)} by {order}"

    footer = [*totals, ""] if closed else totals
    empty = "the servers have no such connections"
    table = Table(title, columns, build_cells(shown_rows, columns), footer, empty, rising=not reverse)
    parts = [table, _build_server_counts(rows, reverse)] if len({row.server for row in rows}) > 1 else [table]
    return Result(parts, data=[row.document for row in shown_rows], table=table)


def _build_server_counts(rows: Sequence[ConnectionRow], reverse: bool) -> Table:
    """Return how many connections each server has, the most last."""
    counts = Counter((row.server, row.cluster) for row in rows)
    lines = [(server, cluster, number) for (server, cluster), number in counts.items()]
    lines.sort(key=lambda line: (line[2], line[0]), reverse=reverse)
    return Table("Connections per Server", _SERVER_COUNTS, lines, rising=not reverse)


def leafnodes(rows: Sequence[LinkRow], order: str, reverse: bool) -> Result:
    """Report on leaf node connections. order: one of LINK_SORTS."""

    return _build_link_report("Leafnode Report", "leaf nodes", LEAFNODES, rows, order, reverse)


def routes(rows: Sequence[LinkRow], order: str, reverse: bool) -> Result:
    """Report on routes. order: one of LINK_SORTS."""

    return _build_link_report("Cluster Report", "routes", ROUTES, rows, order, reverse)


def gateways(rows: Sequence[LinkRow], order: str, reverse: bool) -> Result:
    """Report on gateways. order: one of LINK_SORTS."""

    return _build_link_report("Super Cluster Report", "gateways", GATEWAYS, rows, order, reverse)


def _build_link_report(
    title: str,
    noun: str,
    columns: Sequence[Column],
    rows: Sequence[LinkRow],
    order: str,
    reverse: bool,
) -> Result:
    ordered = sort_rows(rows, _LINKS, order, reverse=reverse)
    table = Table(
        title,
        columns,
        build_cells(ordered, columns),
        _build_totals(ordered, columns),
        empty=f"{title}: the servers have no {noun}",
        # The largest comes last, as for numbers; names are read from the first.
        rising=not reverse and find_order(_LINKS, order).kind != "text",
    )
    return Result([table])


def _build_totals(rows: Sequence[LinkRow], columns: Sequence[Column]) -> list[Any]:
    """Return the number of servers, of clusters and (below the addresses) of links, and sums of counters."""
    totals: dict[str, Any] = {
        "server": str(len({row.server for row in rows})),
        "cluster": str(len({row.cluster for row in rows if row.cluster})),
        "address": str(len(rows)),
    }
    for column in columns:
        if column.kind in ("count", "bytes") and column.key != "accounts":
            totals[column.key] = sum(getattr(row, column.key) for row in rows)
    return [totals.get(column.key, "") for column in columns]


def health(rows: Sequence[HealthRow]) -> Result:
    """Report on health: a line for each error, and one for a server without any."""
    lines: list[list[Any]] = []
    for row in sorted(rows, key=lambda row: row.server):
        status = Cell(row.status, f"{row.status} ({row.code})", "good" if row.status == "ok" else "bad")
        for kind, error in row.errors or [("", "")]:
            lines.append([row.server, row.cluster, row.domain, status, kind, error])
    good = sum(row.status == "ok" for row in rows)
    clusters = len({row.cluster for row in rows})
    footer = [str(len(rows)), str(clusters), "", f"ok: {good} / err: {len(rows) - good}", "", ""]
    return Result([Table("Health Report", HEALTH, lines, footer)])


def usage(replies: Sequence[Json], key: str, *, with_rows: bool = False) -> Result:
    """Compare CPU or memory use of servers. key: "cpu" (percent of a core) or "mem" (bytes), of VARZ.

    The document is an object of the values by server, or with `with_rows` a list.
    """
    values = sorted((_read_use(reply, key), str(reply["server"]["name"])) for reply in replies)
    highest = max((value for value, _ in values), default=0)
    columns = (
        Column("Server", "server"),
        Column("CPU %", key, "number") if key == "cpu" else Column("Memory", key, "bytes"),
        Column("", "bar"),
    )
    rows = [(name, value, "█" * round(value / highest * _BAR) if highest else "") for value, name in values]
    title = "CPU Usage" if key == "cpu" else "Memory Usage"
    data = [{"server": name, key: value} for value, name in values]
    by_server = {name: value for value, name in values}
    return Result([Table(title, columns, rows, rising=True)], data=data if with_rows else by_server)


def _read_use(reply: Json, key: str) -> float:
    value = (reply.get("data") or {}).get(key, 0)
    return float(value) if key == "cpu" else int(value)
