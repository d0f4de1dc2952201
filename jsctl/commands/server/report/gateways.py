"""`jsctl server report gateways`."""

import click

from jsctl.commands.cli import command, option
from jsctl.commands.options.watch import Report
from jsctl.commands.server.report.flags import Flags, is_reversed, report, report_flags
from jsctl.env import Env
from jsctl.monitor.server.reports import build_gateway_rows
from jsctl.views.server import reports as view


@command(
    "gateways",
    columns=view.GATEWAYS,
    examples=["jsctl server report gateways", "jsctl server report gateways --filter-name west"],
)
@option("--filter-name", metavar="NAME", default="", help="Only the gateway of this name")
@option("--sort", "order", type=click.Choice(["server", "cluster"]), default="cluster", help="Sort by this")
@report_flags
async def gateways(env: Env, limit: int | None, filter_name: str, order: str, servers: Flags) -> Report:
    """Stop waiting once LIMIT servers have answered."""
    return await report(
        env,
        "GATEWAYZ",
        {"accounts": True, **({"name": filter_name} if filter_name else {})},
        limit,
        servers,
        lambda replies: view.gateways(build_gateway_rows(replies), order, is_reversed(env)),
    )
