"""The list of `stream ls` and `stream find`."""

from functools import partial
from typing import NamedTuple

from jsctl.base.units import compute_age, seconds_to_ns
from jsctl.jetstream.api import Json
from jsctl.jetstream.paging import Collected
from jsctl.jetstream.state import get_mark
from jsctl.views.result import Cell, Column, Result, Table
from jsctl.views.shared.tables import unreachable_streams

COLUMNS = (
    Column("Name", "name"),
    Column("Description", "description", "prose", hideable=1),
    Column("Created", "created", "time", hideable=3),
    Column("Messages", "messages", "count"),
    Column("Size", "bytes", "bytes"),
    Column("Last Message", "last_message", "ago", hideable=2),
)

UNFINISHED = "unfinished restore or copy"


class ListRow(NamedTuple):
    """A stream's line in `stream ls`."""

    name: str
    description: str
    created: str | None
    messages: int
    bytes: int
    last_message: int  #: ns since then, -1 for never
    unfinished: bool  #: whether a restore or copy has not filled it yet


def list_row(info: Json, now: float) -> ListRow:
    """Return the row of a stream's info. now: seconds since the epoch."""
    config, state = info["config"], info["state"]
    return ListRow(
        name=config["name"],
        description=config.get("description", ""),
        created=info.get("created"),
        messages=state["messages"],
        bytes=state["bytes"],
        last_message=compute_age(state.get("last_ts"), seconds_to_ns(now)),
        unfinished=bool(get_mark(info)),
    )


def listing(
    streams: Collected[ListRow], *, subject: str = "", hidden: bool = False, empty: str = "No Streams defined"
) -> Result:
    """Show the list of `stream ls`, smallest first, as the `nats` tool sorts. hidden: whether system streams
    were left out.
    """
    data = partial(sorted, streams.items)
    if not streams.items and not streams.missing and not streams.offline:
        hint = ", pass -a to include system streams" if hidden else ""
        return Result([Table("", COLUMNS, (), empty=empty + hint)], data=data)
    rows = [
        (Cell(row.name, f"{row.name} ({UNFINISHED})", "bad"), *row[1:-1]) if row.unfinished else row[:-1]
        for row in sorted(streams.items.values(), key=lambda row: (row.bytes, row.name))
    ]
    title = f"Streams matching {subject}" if subject else "Streams"
    unreachable = unreachable_streams(streams.missing, streams.offline)
    table = Table(title, COLUMNS, rows)
    return Result([table, *unreachable], data=data)
