"""`jsctl server report leafnodes`."""

import click

from jsctl.commands.cli import command, option
from jsctl.commands.options.watch import Report
from jsctl.commands.server.report.flags import Flags, is_reversed, report, report_flags
from jsctl.env import Env
from jsctl.monitor.server.reports import list_links
from jsctl.views.server import reports as view

_COLUMNS = (
    view.SERVER,
    view.NAME,
    view.ACCOUNT,
    view.ADDRESS,
    view.RTT,
    *view.TRAFFIC,
    view.build_column("Compressed", "compression", hideable=22),
    view.build_column("Spoke", "spoke", "bool", "is_spoke", hideable=5),
)


@command(
    "leafnodes",
    columns=_COLUMNS,
    examples=["jsctl server report leafnodes", "jsctl server report leafnodes --account APP"],
)
@option("--account", metavar="ACCOUNT", default="", help="Only this account")
@option("--sort", "order", type=click.Choice(view.LINK_SORTS), default="server", help="Sort by this")
@report_flags
async def leafnodes(env: Env, limit: int | None, account: str, order: str, servers: Flags) -> Report:
    """Stop waiting once LIMIT servers have answered."""
    body = {"account": account} if account else {}
    return await report(
        env,
        "LEAFZ",
        body,
        limit,
        servers,
        lambda replies: view.links(
            "Leafnode Report", "leaf nodes", _COLUMNS, list_links(replies, "leafs"), order, is_reversed(env)
        ),
    )
