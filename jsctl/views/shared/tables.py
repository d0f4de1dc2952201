"""Parts of tables that several reports share."""

from collections.abc import Mapping, Sequence

from jsctl.base.command_lines import build_line
from jsctl.views.result import Column, Part, Table, Text


def raw_columns(columns: Sequence[Column]) -> list[Column]:
    """Return the same columns with numbers in full (`--raw`)."""
    return [
        column if column.kind in ("text", "prose") else column._replace(kind="number", key=column.data_key)
        for column in columns
    ]


def unreachable_streams(missing: Sequence[str], offline: Mapping[str, str]) -> list[Part]:
    """Return tables of the streams that did not answer, if there are any. offline: stream -> reason."""
    tables: list[Part] = []
    if missing:
        rows = [(name,) for name in missing]
        tables.append(Table("Inaccessible Streams", [Column("Stream", "stream")], rows))
        tables.append(Text(f"{build_line('doctor')} shows why they do not answer", "dim"))
    if offline:
        columns = [Column("Stream", "stream"), Column("Reason", "reason", "prose")]
        tables.append(Table("Offline Streams", columns, sorted(offline.items())))
    return tables
