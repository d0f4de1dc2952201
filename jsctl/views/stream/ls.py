"""The list of `stream ls` and `stream find`."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from jsctl.jetstream.api import Json
from jsctl.jetstream.paging import Collected
from jsctl.jetstream.state import get_mark
from jsctl.views.result import Cell, Column, Result, Table
from jsctl.views.shared.infos import (
    CREATED,
    DESCRIPTION,
    SIZE,
    build_age_column,
    build_count_column,
    date_info,
)
from jsctl.views.shared.tables import unreachable_streams

UNFINISHED = "unfinished restore or copy"


def _build_name_cell(info: Json) -> Any:
    name = info["config"]["name"]
    return Cell(name, f"{name} ({UNFINISHED})", "bad") if get_mark(info) else name


COLUMNS = (
    Column("Name", "name", read=_build_name_cell),
    DESCRIPTION,
    CREATED,
    build_count_column("Messages", "messages"),
    SIZE,
    build_age_column("Last Message", "last_message"),
)
Row = Sequence[Any]


def list_row(info: Json, now: float) -> Row:
    """Return the row of a stream's info, a value for each column. now: seconds since the epoch."""
    dated = date_info(info, now)
    return [column.get(dated) for column in COLUMNS]


def listing(
    streams: Collected[Row], *, subject: str = "", hidden: bool = False, empty: str = "No Streams defined"
) -> Result:
    """Show the list of `stream ls`, smallest first, as the `nats` tool sorts. hidden: whether system streams
    were left out.
    """
    data = partial(sorted, streams.items)
    if not streams.items and not streams.missing and not streams.offline:
        hint = ", pass -a to include system streams" if hidden else ""
        return Result([Table("", COLUMNS, (), empty=empty + hint)], data=data)
    size = COLUMNS.index(SIZE)
    rows = [row for _, row in sorted(streams.items.items(), key=lambda item: (item[1][size], item[0]))]
    title = f"Streams matching {subject}" if subject else "Streams"
    unreachable = unreachable_streams(streams.missing, streams.offline)
    table = Table(title, COLUMNS, rows)
    return Result([table, *unreachable], data=data)
