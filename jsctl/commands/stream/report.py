"""`jsctl stream report`."""

import click

from jsctl.base.files import write_output
from jsctl.commands.cli import command, option
from jsctl.env import Env
from jsctl.monitor.origins import fetch_report
from jsctl.views.result import Result
from jsctl.views.stream import report as view


@command(
    "report",
    columns=view.STREAMS,
    examples=[
        "jsctl stream report",
        "jsctl stream report --js-domain leaf --name",
        "jsctl s report --dot g.dot",
    ],
)
@option("--subject", metavar="SUBJECT", default="", help="Only streams that store messages on this subject")
@option("--cluster", metavar="CLUSTER", default="", help="Only streams in this cluster")
@option("--consumers", "-o", "order", flag_value="consumers", help="Sort by number of consumers")
@option("--messages", "-m", "order", flag_value="messages", help="Sort by number of messages")
@option("--name", "-n", "order", flag_value="name", help="Sort by name")
@option("--storage", "-t", "order", flag_value="storage", help="Sort by storage")
@option("--sort", "order", type=click.Choice(view.SORTS), help="Sort by this")
@option("--raw", "-r", is_flag=True, help="Show exact numbers, without units or separators")
@option("--dot", metavar="FILE", help="Also write the replication as a GraphViz graph")
@option("--leaders", "-l", is_flag=True, help="Show which servers lead how many streams")
async def report(
    env: Env, subject: str, cluster: str, order: str | None, raw: bool, dot: str | None, leaders: bool
) -> Result:
    """Sort by size, unless a flag says otherwise."""
    api = await env.jetstream()
    if env.form in ("table", "plain"):
        env.inform("Obtaining Stream stats\n")
    rows = await fetch_report(api, subject=subject, cluster=cluster)
    if dot:
        write_output(dot, view.dot(rows.links))
    return view.report(rows, order=order or "bytes", raw=raw, leaders=leaders)
