"""`jsctl server report accounts`."""

from collections.abc import Sequence

import click

from jsctl.commands.cli import argument, command, option
from jsctl.commands.options.watch import Report
from jsctl.commands.server.report.flags import Flags, Json, is_reversed, report, report_flags
from jsctl.env import Env
from jsctl.errors import NotFound
from jsctl.monitor.server.reports import build_connection_request, build_connection_rows
from jsctl.views.result import Result, build_table
from jsctl.views.server.reports import TRAFFIC, build_column, select_top
from jsctl.views.shared.orders import list_orders

COLUMNS = (
    build_column("Account", "account", path="name"),
    build_column("Connections", "connections", "count", sort=("conns",)),
    *TRAFFIC,
)


def _list_accounts(connections: Sequence[Json]) -> list[Json]:
    """Return the accounts of connections, each with the sums of its connections, these and their servers, in
    the shape of `nats`; name and subs are ours."""
    accounts: dict[str, list[Json]] = {}
    for connection in connections:
        accounts.setdefault(str(connection.get("account", "")), []).append(connection)
    return [
        {
            "account": account,
            "name": own[0].get("name_tag") or account,
            "connections": len(own),
            **(sums := {column.key: sum(map(column.get_raw, own)) for column in TRAFFIC}),
            "subscriptions": sums["subs"],
            "connection_info": own,
            "server": list({row["server"].get("id"): row["server"] for row in own}.values()),
        }
        for account, own in accounts.items()
    ]


def _show_accounts(accounts: Sequence[Json], order: str, reverse: bool, top: int, *, one: bool) -> Result:
    """Show accounts, the largest last. one: whether the document is that of the only account, and no
    list."""
    shown = select_top(accounts, COLUMNS, order, reverse, top)
    title = f"{len(shown)} Accounts Overview"
    table = build_table(title, COLUMNS, shown, footer=None, rising=not reverse)
    return Result([table], data=shown[0] if one else shown)


@command(
    "accounts",
    columns=COLUMNS,
    examples=["jsctl server report accounts", "jsctl server report accounts APP --sort conns"],
)
@argument("account", required=False, default="")
@option("--sort", "order", type=click.Choice(list_orders(COLUMNS)), default="subs", help="Sort by this")
@option("--top", type=click.IntRange(min=1), default=1000, help="Only this many, the largest (1000)")
@report_flags
async def accounts(env: Env, account: str, limit: int | None, order: str, top: int, servers: Flags) -> Report:
    """Add up the connections of each account, or of one, by name or ID. Stop waiting once LIMIT servers have
    answered.
    """

    def show(replies: Sequence[Json]) -> Result:
        rows = _list_accounts(build_connection_rows(replies, account))
        if account and len(rows) != 1:
            problem = f"{len(rows)} accounts have the name" if rows else "no connection is of account"
            raise NotFound(
                f"{problem} {account}", "jsctl server report accounts lists those with connections"
            )
        return _show_accounts(rows, order, is_reversed(env), top, one=bool(account))

    return await report(env, "CONNZ", build_connection_request(account=account), limit, servers, show)
