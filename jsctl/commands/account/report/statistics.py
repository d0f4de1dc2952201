"""`jsctl account report statistics`."""

from collections.abc import Sequence

from jsctl.commands.cli import command, option
from jsctl.commands.options.watch import WATCH, Report, check_interval, fetch_or_watch
from jsctl.env import Env
from jsctl.jetstream.api import Json
from jsctl.monitor.server.requests import ping_account
from jsctl.views.result import Column, Result, build_table
from jsctl.views.server.reports import build_column, count_all

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
