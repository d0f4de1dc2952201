"""Exports as people see them."""

from collections.abc import Sequence
from typing import Any

from jsctl.errors import ExitStatus
from jsctl.units import SECOND, format_count
from jsctl.views.result import Column, Kind, Result, Table, Text

_KINDS: dict[str, Kind] = {
    "bigint": "count",
    "int": "count",
    "timestamp": "time",
    "boolean": "bool",
}


def answer(columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[Any]]) -> Result:
    """`export query`. Columns are (name, Spark type); a number called bytes is shown as a size."""
    shown = [Column(name, name, _kind(name, type)) for name, type in columns]
    plain = [[_plain(value) for value in row] for row in rows]
    return Result([Table("", shown, plain)] if rows else [Text("no rows")], data=_records(columns, plain))


def reports(rows: dict[str, int], where: str, took: int, status: ExitStatus) -> Result:
    """`export reports`: rows by table, the folder, ns that it took."""
    counts = " and ".join(
        f"{format_count(count)} {'row' if count == 1 else 'rows'} to {where}/{name}"
        for name, count in rows.items()
        if count
    )
    text = f"wrote {counts or 'no rows'} in {took / SECOND:.1f}s"
    data = {"rows": rows, "to": where, "seconds": round(took / SECOND, 3)}
    return Result([Text(text)], data, status)


def _kind(name: str, type: str) -> Kind:
    if type == "bigint" and name == "bytes":
        return "bytes"
    return _KINDS.get(type, "text")


def _records(columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
    return [dict(zip([name for name, _ in columns], row, strict=True)) for row in rows]


def _plain(value: Any) -> Any:
    """A value that JSON takes; decimals and intervals as text, binary as its length would lose: as text."""
    if value is None or isinstance(value, (bool, int, float, str)) or hasattr(value, "isoformat"):
        return value
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return str(value)
