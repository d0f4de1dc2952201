"""`jsctl server report gateways`."""

import click

from jsctl.commands.cli import command, option
from jsctl.commands.options.watch import Report
from jsctl.commands.server.report.flags import Flags, is_reversed, report, report_flags
from jsctl.env import Env
from jsctl.monitor.server.reports import list_gateways
from jsctl.views.result import Column
from jsctl.views.server import reports as view

COLUMNS = (
    view.SERVER,
    view.CLUSTER,
    view.build_column("Kind", "kind"),
    view.NAME,
    view.ADDRESS,
    view.ID,
    view.UPTIME,
    view.RTT,
    Column(
        "Bytes",
        "bytes",
        "bytes",
        read=lambda link: link.get("in_bytes", 0) + link.get("out_bytes", 0),
        total=sum,
    ),
    view.build_column("Port", "port", "number", "gateway_port", hideable=19),
    view.build_column("Accounts", "accounts", "count", hideable=3),
)


@command(
    "gateways",
    columns=COLUMNS,
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
        lambda replies: view.links(
            "Super Cluster Report", "gateways", COLUMNS, list_gateways(replies), order, is_reversed(env)
        ),
    )
