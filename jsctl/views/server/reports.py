"""What the reports on servers share: columns that read the JSON of servers, and connections."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from jsctl.base.units import format_count
from jsctl.monitor.server.reports import Json, parse_span
from jsctl.views.result import (
    Cell,
    Column,
    Kind,
    Result,
    Table,
    build_table,
)
from jsctl.views.shared.orders import list_orders, sort_rows

_MISSING: Mapping[str, Any] = {"text": "", "bool": False}


def build_column(title: str, key: str, kind: Kind = "text", path: str = "", **attrs: Any) -> Column:
    """Return a column of a server's JSON; spans in it are texts such as 1.7ms. path: of keys, to the value;
    by default `key`. What a server leaves out is empty or 0. attrs: of the column."""
    names, missing = (path or key).split("."), _MISSING.get(kind, 0)

    def read(value: Any) -> Any:
        for name in names:
            value = value.get(name) if value else None
        return parse_span(value) if kind == "duration" else missing if value is None else value

    return Column(title, key, kind, read=read, **attrs)


def build_slow_cell(count: int) -> Cell:
    """Return the cell of a number of slow consumers, which is a warning unless it is 0."""
    return Cell(count, format_count(count), "warn" if count else "")


def count_all(values: Sequence[Any]) -> str:
    """Return how many values there are, as the total of a column of texts."""
    return str(len(values))


def read_address(link: Json) -> str:
    """Return the address of the other end of a connection or link."""
    return f"{link.get('ip', '')}:{link.get('port', 0)}"


def _read_account(connection: Json) -> str:
    return str(connection.get("name_tag") or connection.get("account", ""))


def _read_id(connection: Json) -> str:
    return f"{'L' if connection.get('kind') == 'Leafnode' else ''}{connection['cid']}"


TRAFFIC = (
    build_column("In Msgs", "in_msgs", "count", sort=("in-msgs",), hideable=19, total=sum),
    build_column("Out Msgs", "out_msgs", "count", sort=("out-msgs",), hideable=20, total=sum),
    build_column("In Bytes", "in_bytes", "bytes", sort=("in-bytes",), hideable=16, total=sum),
    build_column("Out Bytes", "out_bytes", "bytes", sort=("out-bytes",), hideable=17, total=sum),
    build_column("Subs", "subs", "count", "subscriptions", sort=("subs",), hideable=3, total=sum),
)
CONNECTIONS = (
    Column("CID", "cid", sort=("cid",), read=_read_id, rank=lambda connection: int(connection["cid"])),
    build_column("Name", "name", hideable=13, total=count_all),
    build_column("Server", "server", path="server.name"),
    build_column("Cluster", "cluster", path="server.cluster", hideable=15),
    Column("IP", "address", hideable=18, read=read_address),
    Column("Account", "account", read=_read_account),
    build_column("Uptime", "uptime", "duration", sort=("uptime",), hideable=14),
    *TRAFFIC,
)
CONNECTION_SORTS = list_orders(CONNECTIONS)
_REASON = build_column("Reason", "reason")
_SERVER_COUNTS = (
    Column("Server", "server"),
    Column("Cluster", "cluster"),
    Column("Connections", "connections", "count"),
)


def select_top(
    rows: Sequence[Json], columns: Sequence[Column], order: str, reverse: bool, top: int
) -> list[Json]:
    """Return the largest rows, the largest last. order: a name in `sort` of a column. top: how many."""
    ordered = sort_rows(rows, columns, order, reverse=reverse)
    return ordered[:top] if reverse else ordered[-top:]


def connections(rows: Sequence[Json], order: str, reverse: bool, top: int, *, closed: bool) -> Result:
    """Report on connections. order: one of CONNECTION_SORTS. closed: with why they were closed."""
    shown = select_top(rows, CONNECTIONS, order, reverse, top)
    columns = (*CONNECTIONS, _REASON) if closed else CONNECTIONS
    table = build_table(
        f"Top {len(shown)} Connections out of {len(rows)} by {order}",
        columns,
        shown,
        empty="the servers have no such connections",
        rising=not reverse,
    )
    counts = Counter((row["server"]["name"], row["server"].get("cluster", "")) for row in rows)
    parts = [table, _build_server_counts(counts, reverse)] if len(counts) > 1 else [table]
    return Result(parts, data=shown, table=table)


def _build_server_counts(counts: Mapping[tuple[str, str], int], reverse: bool) -> Table:
    """Return how many connections each server has, the most last."""
    lines = [(server, cluster, number) for (server, cluster), number in counts.items()]
    lines.sort(key=lambda line: (line[2], line[0]), reverse=reverse)
    return Table("Connections per Server", _SERVER_COUNTS, lines, rising=not reverse)
