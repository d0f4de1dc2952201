"""`jsctl account report` and its commands."""

from collections.abc import Sequence

import click

from jsctl.commands.cli import command, option
from jsctl.commands.options.watch import WATCH, Report, check_interval, fetch_or_watch
from jsctl.env import Env
from jsctl.jetstream.api import Json
from jsctl.monitor.server.reports import STATES, build_connection_request, build_connection_rows
from jsctl.monitor.server.requests import ping_account
from jsctl.views.result import Column, Result, build_table
from jsctl.views.server import reports as view
from jsctl.views.server.reports import build_column, count_all


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


_COLUMNS = (
    build_column("Server", "server", path="server.name", total=count_all),
    build_column("Cluster", "cluster", path="server.cluster", hideable=2),
    build_column("Version", "version", path="server.ver", hideable=8),
    Column(
        *("Tags", "tags"),
        read=lambda row: ", ".join(row["server"].get("tags") or ()),
        hideable=3,
        optional=True,
    ),
    build_column("Connections", "connections", "count", "conns", total=sum),
    build_column("Subscriptions", "subscriptions", "count", "num_subscriptions", hideable=1, total=sum),
    build_column("Leafnodes", "leafnodes", "count", hideable=7, total=sum),
    build_column("Sent Bytes", "sent_bytes", "bytes", "sent.bytes", hideable=4, total=sum),
    build_column("Sent Msgs", "sent_messages", "count", "sent.msgs", total=sum),
    build_column("Received Bytes", "received_bytes", "bytes", "received.bytes", hideable=5, total=sum),
    build_column("Received Msgs", "received_messages", "count", "received.msgs", total=sum),
    build_column("Slow Consumers", "slow_consumers", "count", hideable=6, total=sum),
)


def _show_statistics(replies: Sequence[Json]) -> Result:
    """Show the statistics of an account. replies: those to STATZ; servers without it are left out."""
    rows = [
        {**account, "server": reply["server"]}
        for reply in sorted(replies, key=lambda reply: str(reply["server"]["name"]))
        for account in ((reply.get("data") or {}).get("account_statz") or ())[:1]
    ]
    return Result([build_table("Server Statistics", _COLUMNS, rows)])


@command(
    "statistics",
    columns=_COLUMNS,
    examples=["jsctl account report statistics", "jsctl account report statistics --watch 5s"],
)
@option(*WATCH[0], **WATCH[1])
async def statistics(env: Env, watch: int | None) -> Report:
    """Ask as the account itself; a login of the system account is not needed. Servers without a connection of
    the account do not answer.
    """
    check_interval(watch)
    connection = await env.connection()

    async def fetch() -> Result:
        return _show_statistics(await ping_account(connection, "STATZ"))

    return await fetch_or_watch(fetch, watch)
