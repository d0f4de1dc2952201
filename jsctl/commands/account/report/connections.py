"""`jsctl account report connections`."""

import click

from jsctl.commands.cli import command, option
from jsctl.commands.options.watch import WATCH, Report, check_interval, fetch_or_watch
from jsctl.env import Env
from jsctl.monitor.server.reports import STATES, build_connection_request, build_connection_rows
from jsctl.monitor.server.requests import ping_account
from jsctl.views.result import Result
from jsctl.views.server import reports as view


@command(
    "connections",
    columns=view.CONNECTIONS,
    examples=["jsctl account report connections", "jsctl account report connections --state closed --top 10"],
)
@option("--sort", "order", type=click.Choice(view.CONNECTION_SORTS), default="subs", help="Sort by this")
@option("--top", type=click.IntRange(min=1), default=1000, help="Only this many, the largest (1000)")
@option("--subject", metavar="SUBJECT", default="", help="Only connections that subscribe to this subject")
@option("--username", metavar="USER", default="", help="Only connections of this user")
@option("--reverse", "-R", is_flag=True, help="Largest first")
@option("--state", type=click.Choice(list(STATES)), default="open", help="Only connections in this state")
@option("--closed-reason", metavar="REASON", default="", help="Only those that were closed for this reason")
@option(*WATCH[0], **WATCH[1])
async def connections(
    env: Env,
    order: str,
    top: int,
    subject: str,
    username: str,
    reverse: bool,
    state: str,
    closed_reason: str,
    watch: int | None,
) -> Report:
    """Ask as the account itself; a login of the system account is not needed."""
    check_interval(watch)
    state = "closed" if closed_reason and state == "open" else state
    connection = await env.connection()
    body = build_connection_request(subject=subject, user=username, state=state)

    async def fetch() -> Result:
        rows = build_connection_rows(await ping_account(connection, "CONNZ", body))
        if closed_reason:
            rows = [row for row in rows if closed_reason.lower() in str(row.get("reason", "")).lower()]
        return view.connections(rows, order, reverse, top, closed=state != "open")

    return await fetch_or_watch(fetch, watch)
