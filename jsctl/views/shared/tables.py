"""Parts of tables that several reports share."""

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from jsctl.views.result import Column, Table


def raw_columns(columns: Sequence[Column]) -> list[Column]:
    """Returns the same columns with numbers as they are (`--raw`)."""
    return [
        column if column.kind in ("text", "prose") else column._replace(kind="number") for column in columns
    ]


def recorder(keys: Sequence[str]) -> Callable[[object], dict[str, Any]]:
    """Returns a function that makes a JSON object with these keys of a row's attributes of the same names."""
    values = attrgetter(*keys)
    return lambda row: dict(zip(keys, values(row), strict=True))


def unreachable_streams(missing: Sequence[str], offline: Mapping[str, str]) -> list[Table]:
    """Returns tables of the streams that did not answer, where there are any. offline: stream -> reason."""
    tables = []
    if missing:
        rows = [(name,) for name in missing]
        tables.append(Table("Inaccessible Streams", [Column("Stream", "stream")], rows))
    if offline:
        columns = [Column("Stream", "stream"), Column("Reason", "reason", "prose")]
        tables.append(Table("Offline Streams", columns, sorted(offline.items())))
    return tables
