"""`jsctl server report accounts`."""

import click

from jsctl.commands.cli import argument, command, option
from jsctl.commands.server.report.flags import Flags, is_reversed, report, report_flags
from jsctl.commands.shared.watch import Report
from jsctl.env import Env
from jsctl.monitor.server.reports import build_account_rows, build_connection_request, build_connection_rows
from jsctl.views.server import reports as view


@command(
    "accounts", examples=["jsctl server report accounts", "jsctl server report accounts APP --sort conns"]
)
@argument("account", required=False, default="")
@option("--sort", "order", type=click.Choice(list(view.ACCOUNT_SORTS)), default="subs", help="Sort by this")
@option("--top", type=click.IntRange(min=1), default=1000, help="Only this many, the largest (1000)")
@report_flags
async def accounts(env: Env, account: str, limit: int | None, order: str, top: int, servers: Flags) -> Report:
    """Add up the connections of each account. Stop waiting once LIMIT servers have answered."""
    return await report(
        env,
        "CONNZ",
        build_connection_request(account=account),
        limit,
        servers,
        lambda replies: view.accounts(
            build_account_rows(build_connection_rows(replies, account)), order, is_reversed(env), top
        ),
    )
