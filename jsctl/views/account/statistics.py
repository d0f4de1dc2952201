"""`account report statistics`: what each server does for the account."""

from collections.abc import Sequence
from typing import Any

from jsctl.jetstream.api import Json
from jsctl.views.result import Column, Result, Table

COLUMNS = (
    Column("Server", "server"),
    Column("Cluster", "cluster"),
    Column("Version", "version"),
    Column("Tags", "tags"),
    Column("Connections", "connections", "count"),
    Column("Subscriptions", "subscriptions", "count"),
    Column("Leafnodes", "leafnodes", "count"),
    Column("Sent Bytes", "sent_bytes", "bytes"),
    Column("Sent Msgs", "sent_messages", "count"),
    Column("Received Bytes", "received_bytes", "bytes"),
    Column("Received Msgs", "received_messages", "count"),
    Column("Slow Consumers", "slow_consumers", "count"),
)
_TEXTS = 4  #: columns before the numbers
_SPARE = (
    "version",
    "leafnodes",
    "slow_consumers",
    "received_bytes",
    "sent_bytes",
    "tags",
    "cluster",
    "subscriptions",
)


def statistics(replies: Sequence[Json]) -> Result:
    """Show the statistics of an account. replies: those to STATZ; servers without it are left out."""
    rows = [
        _build_row(reply["server"], account)
        for reply in sorted(replies, key=lambda reply: str(reply["server"]["name"]))
        for account in ((reply.get("data") or {}).get("account_statz") or ())[:1]
    ]
    totals = [sum(row[index] for row in rows) for index in range(_TEXTS, len(COLUMNS))]
    footer = [str(len(rows)), "", "", "", *totals]
    return Result([Table("Server Statistics", COLUMNS, rows, footer, _SPARE, optional=("tags",))])


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
