"""Streams as people see them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from jsctl.units import SECOND, parse_time
from jsctl.views.result import Column, Result, Table, Text

Json = dict[str, Any]

_LIST = (
    Column("Name", "name"),
    Column("Description", "description"),
    Column("Created", "created", "time"),
    Column("Messages", "messages", "count"),
    Column("Size", "bytes", "bytes"),
    Column("Last Message", "last_message", "ago"),
)


def listing(infos: Sequence[Json], now: float) -> Result:
    """`stream ls`: smallest first, as the `nats` tool sorts."""
    if not infos:
        return Result([Text("No Streams defined")], data=[])
    ordered = sorted(infos, key=lambda info: (info["state"]["bytes"], info["config"]["name"]))
    rows = [
        (
            info["config"]["name"],
            info["config"].get("description", ""),
            info.get("created"),
            info["state"]["messages"],
            info["state"]["bytes"],
            since(info["state"].get("last_ts"), now),
        )
        for info in ordered
    ]
    return Result([Table("Streams", _LIST, rows)], data=sorted(info["config"]["name"] for info in infos))


def since(moment: str | None, now: float) -> int:
    """ns from an RFC 3339 time until `now` (seconds since the epoch); -1 for the server's zero time."""
    if not moment or moment.startswith("0001-01-01"):
        return -1
    return max(0, int((datetime.fromtimestamp(now, UTC) - parse_time(moment)).total_seconds() * SECOND))
