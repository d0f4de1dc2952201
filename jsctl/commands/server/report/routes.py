"""`jsctl server report routes`, `leafnodes` and `gateways`: the links between servers."""

from collections.abc import Sequence

import click

from jsctl.commands.cli import command, option
from jsctl.commands.options.watch import Report
from jsctl.commands.server.report.flags import Flags, Json, is_reversed, report, report_flags
from jsctl.env import Env
from jsctl.monitor.server.reports import list_gateways, list_links
from jsctl.views.result import Column, Result, build_table, count_distinct
from jsctl.views.server.reports import TRAFFIC, build_column, count_all, read_address
from jsctl.views.shared.orders import find_order, list_orders, sort_rows


def _read_name(link: Json) -> str:
    return str(link.get("remote_name", link.get("name", "")))


def _read_id(link: Json) -> str:
    return str(link.get("rid", link.get("cid", link.get("id", ""))))


_SERVER = build_column("Server", "server", path="server.name", sort=("server",), total=count_distinct)
_CLUSTER = build_column(
    "Cluster", "cluster", path="server.cluster", sort=("cluster",), hideable=1, total=count_distinct
)
_NAME = Column("Name", "name", sort=("name",), read=_read_name)
_ACCOUNT = build_column("Account", "account", sort=("account",))
_ADDRESS = Column("Address", "address", hideable=18, read=read_address, total=count_all)
_ID = Column("ID", "id", hideable=8, read=_read_id)
_UPTIME = build_column("Uptime", "uptime", "duration", hideable=4)
_RTT = build_column("RTT", "rtt", "duration", hideable=2)
_SORTED = (_SERVER, _CLUSTER, _NAME, _ACCOUNT, *TRAFFIC)
_SORTS = list_orders(_SORTED)
ROUTES = (
    _SERVER,
    _CLUSTER,
    _NAME,
    _ACCOUNT._replace(hideable=7),
    _ADDRESS,
    _ID,
    _UPTIME,
    _RTT,
    build_column("Subs", "subs", "count", "subscriptions", hideable=3, total=sum),
    build_column("Bytes In", "in_bytes", "bytes", hideable=5, total=sum),
    build_column("Bytes Out", "out_bytes", "bytes", hideable=6, total=sum),
)
LEAF_NODES = (
    _SERVER,
    _NAME,
    _ACCOUNT,
    _ADDRESS,
    _RTT,
    *TRAFFIC,
    build_column("Compressed", "compression", hideable=22),
    build_column("Spoke", "spoke", "bool", "is_spoke", hideable=5),
)
GATEWAYS = (
    _SERVER,
    _CLUSTER,
    build_column("Kind", "kind"),
    _NAME,
    _ADDRESS,
    _ID,
    _UPTIME,
    _RTT,
    Column(
        *("Bytes", "bytes", "bytes"),
        read=lambda link: link.get("in_bytes", 0) + link.get("out_bytes", 0),
        total=sum,
    ),
    build_column("Port", "port", "number", "gateway_port", hideable=19),
    build_column("Accounts", "accounts", "count", hideable=3),
)


def show_links(
    title: str, noun: str, columns: Sequence[Column], links: Sequence[Json], order: str, reverse: bool
) -> Result:
    """Report on leaf node connections, routes or gateways. order: a name in `sort` of their columns."""
    table = build_table(
        title,
        columns,
        sort_rows(links, _SORTED, order, reverse=reverse),
        empty=f"{title}: the servers have no {noun}",
        # The largest comes last, as for numbers; names are read from the first.
        rising=not reverse and find_order(_SORTED, order).kind != "text",
    )
    return Result([table])


@command(
    "routes",
    columns=ROUTES,
    examples=["jsctl server report routes", "jsctl server report routes --sort cluster"],
)
@option("--sort", "order", type=click.Choice(_SORTS), default="server", help="Sort by this")
@report_flags
async def routes(env: Env, limit: int | None, order: str, servers: Flags) -> Report:
    """Stop waiting once LIMIT servers have answered."""

    def show(replies: Sequence[Json]) -> Result:
        links = list_links(replies, "routes")
        return show_links("Cluster Report", "routes", ROUTES, links, order, is_reversed(env))

    return await report(env, "ROUTEZ", {}, limit, servers, show)


@command(
    "leafnodes",
    columns=LEAF_NODES,
    examples=["jsctl server report leafnodes", "jsctl server report leafnodes --account APP"],
)
@option("--account", metavar="ACCOUNT", default="", help="Only this account")
@option("--sort", "order", type=click.Choice(_SORTS), default="server", help="Sort by this")
@report_flags
async def leafnodes(env: Env, limit: int | None, account: str, order: str, servers: Flags) -> Report:
    """Stop waiting once LIMIT servers have answered."""

    def show(replies: Sequence[Json]) -> Result:
        links = list_links(replies, "leafs")
        return show_links("Leafnode Report", "leaf nodes", LEAF_NODES, links, order, is_reversed(env))

    return await report(env, "LEAFZ", {"account": account} if account else {}, limit, servers, show)


@command(
    "gateways",
    columns=GATEWAYS,
    examples=["jsctl server report gateways", "jsctl server report gateways --filter-name west"],
)
@option("--filter-name", metavar="NAME", default="", help="Only the gateway of this name")
@option("--sort", "order", type=click.Choice(["server", "cluster"]), default="cluster", help="Sort by this")
@report_flags
async def gateways(env: Env, limit: int | None, filter_name: str, order: str, servers: Flags) -> Report:
    """Stop waiting once LIMIT servers have answered."""

    def show(replies: Sequence[Json]) -> Result:
        links = list_gateways(replies)
        return show_links("Super Cluster Report", "gateways", GATEWAYS, links, order, is_reversed(env))

    body = {"accounts": True, **({"name": filter_name} if filter_name else {})}
    return await report(env, "GATEWAYZ", body, limit, servers, show)
