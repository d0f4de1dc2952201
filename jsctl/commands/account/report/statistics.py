"""`jsctl account report statistics`."""

from collections.abc import Sequence
from typing import Any

from jsctl.commands.cli import command, option
from jsctl.commands.options.watch import WATCH, Report, check_interval, fetch_or_watch
from jsctl.env import Env
from jsctl.jetstream.api import Json
from jsctl.monitor.server.requests import ping_account
from jsctl.views.result import Column, Result, Table

_COLUMNS = (
    Column("Server", "server"),
    Column("Cluster", "cluster", hideable=2),
    Column("Version", "version", hideable=8),
    Column("Tags", "tags", hideable=3, optional=True),
    Column("Connections", "connections", "count"),
    Column("Subscriptions", "subscriptions", "count", hideable=1),
    Column("Leafnodes", "leafnodes", "count", hideable=7),
    Column("Sent Bytes", "sent_bytes", "bytes", hideable=4),
    Column("Sent Msgs", "sent_messages", "count"),
    Column("Received Bytes", "received_bytes", "bytes", hideable=5),
    Column("Received Msgs", "received_messages", "count"),
    Column("Slow Consumers", "slow_consumers", "count", hideable=6),
)
_TEXTS = 4  #: columns before the numbers


def _show_statistics(replies: Sequence[Json]) -> Result:
    """Show the statistics of an account. replies: those to STATZ; servers without it are left out."""
    rows = [
        _build_row(reply["server"], account)
        for reply in sorted(replies, key=lambda reply: str(reply["server"]["name"]))
        for account in ((reply.get("data") or {}).get("account_statz") or ())[:1]
    ]
    totals = [sum(row[index] for row in rows) for index in range(_TEXTS, len(_COLUMNS))]
    footer = [str(len(rows)), "", "", "", *totals]
    return Result([Table("Server Statistics", _COLUMNS, rows, footer)])


def _build_row(server: Json, account: Json) -> list[Any]:
    sent, received = account.get("sent") or {}, account.get("received") or {}
    return [
        server["name"],
        server.get("cluster", ""),
        server.get("ver", ""),
        ", ".join(server.get("tags") or ()),
        account.get("conns", 0),
        account.get("num_subscriptions", 0),
        account.get("leafnodes", 0),
        sent.get("bytes", 0),
        sent.get("msgs", 0),
        received.get("bytes", 0),
        received.get("msgs", 0),
        account.get("slow_consumers", 0),
    ]


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
