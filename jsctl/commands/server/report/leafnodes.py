"""`jsctl server report leafnodes`."""

import click

from jsctl.commands.cli import command, option
from jsctl.commands.options.watch import Report
from jsctl.commands.server.report.flags import Flags, is_reversed, report, report_flags
from jsctl.env import Env
from jsctl.monitor.server.reports import build_leafnode_rows
from jsctl.views.server import reports as view


@command(
    "leafnodes",
    columns=view.LEAFNODES,
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
        lambda replies: view.leafnodes(build_leafnode_rows(replies), order, is_reversed(env)),
    )
