"""`jsctl server report routes`."""

import click

from jsctl.commands.cli import command, option
from jsctl.commands.options.watch import Report
from jsctl.commands.server.report.flags import Flags, is_reversed, report, report_flags
from jsctl.env import Env
from jsctl.monitor.server.reports import list_links
from jsctl.views.server import reports as view

_COLUMNS = (
    view.SERVER,
    view.CLUSTER,
    view.NAME,
    view.ACCOUNT._replace(hideable=7),
    view.ADDRESS,
    view.ID,
    view.UPTIME,
    view.RTT,
    view.build_column("Subs", "subs", "count", "subscriptions", hideable=3, total=sum),
    view.build_column("Bytes In", "in_bytes", "bytes", hideable=5, total=sum),
    view.build_column("Bytes Out", "out_bytes", "bytes", hideable=6, total=sum),
)


@command(
    "routes",
    columns=_COLUMNS,
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
        lambda replies: view.links(
            "Cluster Report", "routes", _COLUMNS, list_links(replies, "routes"), order, is_reversed(env)
        ),
    )
