"""Exports as people see them."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from jsctl.errors import ExitStatus
from jsctl.units import SECOND, format_bytes, format_count
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


class Exported(Protocol):
    """What `export stream` did with a stream: jsctl.spark.export.export.Outcome."""

    @property
    def stream(self) -> str: ...
    @property
    def table(self) -> str: ...
    @property
    def exported(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def deleted(self) -> int | None: ...
    @property
    def lost(self) -> int: ...
    @property
    def bad(self) -> int: ...
    @property
    def first(self) -> int | None: ...
    @property
    def last(self) -> int | None: ...
    @property
    def seconds(self) -> float: ...
    @property
    def verdict(self) -> Any: ...


def streams(outcomes: Sequence[Exported], where: str, took: int) -> Result:
    """`export stream`: the closing line; data with a record a stream. took: ns. A table that differs from its
    stream is a failure."""
    rows = [_exported(one) for one in outcomes]
    deleted = [row["deleted"] for row in rows]
    data: dict[str, Any] = {
        "exported": sum(row["exported"] for row in rows),
        "bytes": sum(row["bytes"] for row in rows),
        "deleted": None if None in deleted else sum(deleted),
        "lost": sum(row["lost"] for row in rows),
        "bad": sum(row["bad"] for row in rows),
        "seconds": round(took / SECOND, 3),
        "to": where,
        "streams": rows,
    }
    good = all(row["verified"]["same"] for row in rows if "verified" in row)
    return Result([Text(closing(data))], data, ExitStatus.OK if good else ExitStatus.FAILURE)


def closing(data: Mapping[str, Any]) -> str:
    """The line at the end of `export stream`, from its data; and a line for each table that was verified."""
    count = data["exported"]
    parts = [
        f"exported {format_count(count)} {'message' if count == 1 else 'messages'}"
        f" ({format_bytes(data['bytes'])}) to {data['to']}",
        *_missing(data["deleted"], data["lost"]),
        *([f"bad payloads {format_count(data['bad'])}"] if data["bad"] else []),
        f"in {data['seconds']:.1f}s",
    ]
    verified = [_verified(row) for row in data["streams"] if "verified" in row]
    return "\n".join([", ".join(parts), *verified])


def so_far(outcomes: Sequence[Exported], word: str = "so far") -> str:
    """`5 messages (9 B) so far, deleted 0, lost 0`: what stands between two looks of `--follow`."""
    deleted = [one.deleted for one in outcomes if one.deleted is not None]
    count = sum(one.exported for one in outcomes)
    size = format_bytes(sum(one.bytes for one in outcomes))
    missing = _missing(
        sum(deleted) if len(deleted) == len(outcomes) else None, sum(one.lost for one in outcomes)
    )
    return ", ".join(
        [f"{format_count(count)} {'message' if count == 1 else 'messages'} ({size}) {word}", *missing]
    )


def _missing(deleted: int | None, lost: int) -> list[str]:
    """Of some subjects only, deletions look like other subjects, and what is lost may be of others."""
    if deleted is None:
        return ["deleted not counted", f"lost {'up to ' if lost else ''}{format_count(lost)}"]
    return [f"deleted {format_count(deleted)}", f"lost {format_count(lost)}"]


def _exported(one: Exported) -> dict[str, Any]:
    row: dict[str, Any] = {
        "stream": one.stream,
        "table": one.table,
        "exported": one.exported,
        "bytes": one.bytes,
        "deleted": one.deleted,
        "lost": one.lost,
        "bad": one.bad,
        "first": one.first,
        "last": one.last,
        "seconds": round(one.seconds, 3),
    }
    if one.verdict is not None:
        found = one.verdict
        row["verified"] = {
            "same": found.good,
            "table": found.table._asdict(),
            "stream": found.stream._asdict(),
            "missing": found.missing,
            "changed": found.changed,
            "twice": found.twice,
            "foreign": found.foreign,
            "gone": found.gone,
        }
    return row


def _verified(row: Mapping[str, Any]) -> str:
    found = row["verified"]
    gone = f"; {format_count(found['gone'])} more are gone from the stream" if found["gone"] else ""
    if found["same"]:
        table = found["stream"]
        span = f", sequences {table['first']} to {table['last']}" if table["messages"] else ""
        count = f"{format_count(table['messages'])} messages"
        return f"verified {row['table']}: {count}{span}, digest {table['digest']}{gone}"
    words = ("missing", "changed", "twice", "foreign")
    wrong = ", ".join(f"{format_count(found[word])} {word}" for word in words if found[word])
    return f"{row['table']} differs from the stream: {wrong}{gone}"


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
