"""`jsctl server report routes`."""

import click

from jsctl.commands.cli import command, option
from jsctl.commands.options.watch import Report
from jsctl.commands.server.report.flags import Flags, is_reversed, report, report_flags
from jsctl.env import Env
from jsctl.monitor.server.reports import build_route_rows
from jsctl.views.server import reports as view


@command(
    "routes",
    columns=view.ROUTES,
    examples=["jsctl server report routes", "jsctl server report routes --sort cluster"],
)
@option("--sort", "order", type=click.Choice(view.LINK_SORTS), default="server", help="Sort by this")
@report_flags
async def routes(env: Env, limit: int | None, order: str, servers: Flags) -> Report:
    """Stop waiting once LIMIT servers have answered."""
    return await report(
        env,
        "ROUTEZ",
        {},
        limit,
        servers,
        lambda replies: view.routes(build_route_rows(replies), order, is_reversed(env)),
    )
