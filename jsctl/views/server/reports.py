"""What the reports on servers share: columns that read the JSON of servers, connections, links, use."""

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
    build_cells,
    build_footer,
    count_distinct,
)
from jsctl.views.shared.orders import find_order, list_orders, sort_rows

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


def _read_address(link: Json) -> str:
    return f"{link.get('ip', '')}:{link.get('port', 0)}"


def _read_name(link: Json) -> str:
    return str(link.get("remote_name", link.get("name", "")))


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
    Column("IP", "address", hideable=18, read=_read_address),
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

SERVER = build_column("Server", "server", path="server.name", sort=("server",), total=count_distinct)
CLUSTER = build_column(
    "Cluster", "cluster", path="server.cluster", sort=("cluster",), hideable=1, total=count_distinct
)
NAME = Column("Name", "name", sort=("name",), read=_read_name)
ACCOUNT = build_column("Account", "account", sort=("account",))
ADDRESS = Column("Address", "address", hideable=18, read=_read_address, total=count_all)
ID = Column(
    *("ID", "id"),
    hideable=8,
    read=lambda link: str(link.get("rid", link.get("cid", link.get("id", "")))),
)
UPTIME = build_column("Uptime", "uptime", "duration", hideable=4)
RTT = build_column("RTT", "rtt", "duration", hideable=2)
_LINKS = (SERVER, CLUSTER, NAME, ACCOUNT, *TRAFFIC)
LINK_SORTS = list_orders(_LINKS)
_BAR = 30  #: columns of the longest bar


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
    table = Table(
        f"Top {len(shown)} Connections out of {len(rows)} by {order}",
        columns,
        build_cells(shown, columns),
        build_footer(shown, columns),
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


def links(
    title: str, noun: str, columns: Sequence[Column], rows: Sequence[Json], order: str, reverse: bool
) -> Result:
    """Report on leaf node connections, routes or gateways. order: one of LINK_SORTS."""
    ordered = sort_rows(rows, _LINKS, order, reverse=reverse)
    table = Table(
        title,
        columns,
        build_cells(ordered, columns),
        build_footer(ordered, columns),
        empty=f"{title}: the servers have no {noun}",
        # The largest comes last, as for numbers; names are read from the first.
        rising=not reverse and find_order(_LINKS, order).kind != "text",
    )
    return Result([table])


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
