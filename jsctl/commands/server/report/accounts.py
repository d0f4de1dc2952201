"""`jsctl server report accounts`."""

from collections.abc import Sequence

import click

from jsctl.commands.cli import argument, command, option
from jsctl.commands.options.watch import Report
from jsctl.commands.server.report.flags import Flags, Json, is_reversed, report, report_flags
from jsctl.env import Env
from jsctl.errors import NotFound
from jsctl.monitor.server.reports import build_account_rows, build_connection_request, build_connection_rows
from jsctl.views.result import Result
from jsctl.views.server import reports as view


@command(
    "accounts",
    columns=view.ACCOUNTS,
    examples=["jsctl server report accounts", "jsctl server report accounts APP --sort conns"],
)
@argument("account", required=False, default="")
@option("--sort", "order", type=click.Choice(view.ACCOUNT_SORTS), default="subs", help="Sort by this")
@option("--top", type=click.IntRange(min=1), default=1000, help="Only this many, the largest (1000)")
@report_flags
async def accounts(env: Env, account: str, limit: int | None, order: str, top: int, servers: Flags) -> Report:
    """Add up the connections of each account, or of one, by name or ID. Stop waiting once LIMIT servers have
    answered.
    """

    def show(replies: Sequence[Json]) -> Result:
        rows = build_account_rows(build_connection_rows(replies, account))
        if account and len(rows) != 1:
            problem = f"{len(rows)} accounts have the name" if rows else "no connection is of account"
            raise NotFound(
                f"{problem} {account}", "jsctl server report accounts lists those with connections"
            )
        return view.accounts(rows, order, is_reversed(env), top, one=bool(account))

    return await report(env, "CONNZ", build_connection_request(account=account), limit, servers, show)
