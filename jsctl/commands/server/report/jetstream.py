"""`jsctl server report jetstream`."""

from functools import partial

import click

from jsctl.commands.cli import command, option
from jsctl.commands.options.watch import Report
from jsctl.commands.server.report.flags import (
    Flags,
    build_server_filter,
    is_reversed,
    report_answers,
    report_flags,
)
from jsctl.env import Env
from jsctl.monitor.server import requests
from jsctl.views.server import servers as view


@command(
    "jetstream",
    columns=view.SUMMARY,
    examples=[
        "jsctl server report jetstream --user admin --password admin",
        "jsctl server report jetstream --account ACC --sort msgs",
    ],
)
@option("--account", metavar="ACCOUNT", default="", help="Report on this account")
@option("--sort", "order", type=click.Choice(view.SORTS), default="cluster", help="Sort by this")
@option("--compact/--no-compact", default=True, help="Leave out the domain that all server names share")
@option("--leaders", "-l", is_flag=True, help="Show how many streams and consumers each server leads")
@report_flags
async def jetstream(
    env: Env,
    limit: int | None,
    account: str,
    order: str,
    compact: bool,
    leaders: bool,
    servers: Flags,
) -> Report:
    """Stop waiting once LIMIT servers have answered."""
    server_filter = build_server_filter(servers)
    report = view.JetStreamReport(
        account=account,
        order=order,
        reverse=is_reversed(env),
        compact=compact,
        leaders=leaders,
        partial=bool(server_filter.body() or limit),
    )
    ask = partial(requests.fetch_jetstream, account=account, server_filter=server_filter, expect=limit or 0)
    show = partial(view.jetstream_report, report=report)
    return await report_answers(env, "JSZ", servers, ask, show, {"account": account})
