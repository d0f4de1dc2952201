"""Results of `jsctl export`."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Protocol

from jsctl.base.json_text import encode_json
from jsctl.base.units import SECOND, format_bytes, format_count, pluralize
from jsctl.errors import ExitStatus, JsctlError
from jsctl.jetstream.message.payload import as_text, encode_field, name_of_base64
from jsctl.views.intent import Intent
from jsctl.views.kv.value import shorten
from jsctl.views.result import Cell, Column, Kind, Result, Table, Text, recorder

_KINDS: dict[str, Kind] = {
    "bigint": "count",
    "int": "count",
    "timestamp": "time",
    "boolean": "bool",
}


_BINARY_ITEMS = re.compile(r"(?:array<|map<\w+,)+binary>+")
"""Spark types of arrays and maps of binary, which is base64: one that is text may stand beside one that is
not."""

_record_outcome = recorder(
    ("stream", "table", "exported", "bytes", "deleted", "lost", "bad", "first", "last")
)
_record_summary = recorder(("messages", "first", "last", "digest"))


def answer(columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[Any]]) -> Result:
    """Show the result of `export query`. columns: (name, Spark type). rows: values as JSON has them, and
    bytes. A number called bytes is shown as a size, binary as text where it is text.
    """
    keys = [name_of_base64(name) if _BINARY_ITEMS.fullmatch(type) else name for name, type in columns]
    headings = [
        Column(name, key, _format_kind(name, type), type == "binary")
        for key, (name, type) in zip(keys, columns, strict=True)
    ]
    table = Table("", headings, [[_build_cell(value) for value in row] for row in rows])
    records = [dict(_list_fields(zip(keys, row, strict=True))) for row in rows]
    return Result([table] if rows else [Text("no rows")], data=records)


def reports(rows: dict[str, int], folder: str, duration: int, status: ExitStatus) -> Result:
    """Show the result of `export reports`. rows: number of rows by table. duration: ns."""
    counts = " and ".join(
        f"{pluralize(count, 'row')} to {folder}/{name}" for name, count in rows.items() if count
    )
    text = f"wrote {counts or 'no rows'} in {duration / SECOND:.1f}s"
    data = {"rows": rows, "to": folder, "seconds": round(duration / SECOND, 3)}
    return Result([Text(text)], data, status)


def buckets(rows: dict[str, int], bad: dict[str, int], folder: str, duration: int) -> Result:
    """Show the result of `export kv` and `export objects`.

    rows: number of rows by table. bad: number of values that could not be decoded, by table; empty if
    nothing is decoded. duration: ns.
    """
    written = reports(rows, folder, duration, ExitStatus.OK)
    if not bad:
        return written
    notes = [f"{pluralize(count, 'value')} of {name}" for name, count in bad.items() if count]
    text = [Text(f"could not be decoded: {', '.join(notes)}")] if notes else []
    return Result([*written.parts, *text], {**written.data, "bad": bad})


def bucket_summary(result: Result) -> str:
    """Return the lines that `buckets` shows."""
    return "\n".join(part.text for part in result.parts if isinstance(part, Text))


class Comparison(Protocol):
    """The differences of a table from its stream: jsctl.spark.export.verify.Comparison.

    table, stream: a Summary of each. missing, changed, repeated, foreign, removed: numbers of messages.
    """

    @property
    def is_same(self) -> bool: ...
    @property
    def table(self) -> object: ...
    @property
    def stream(self) -> object: ...
    @property
    def missing(self) -> int: ...
    @property
    def changed(self) -> int: ...
    @property
    def repeated(self) -> int: ...
    @property
    def foreign(self) -> int: ...
    @property
    def removed(self) -> int: ...


class Exported(Protocol):
    """What `export stream` did with a stream: jsctl.spark.export.stream_plan.Outcome.

    exported, deleted, lost, bad: numbers of messages. first, last: sequences. seconds: the time it took.
    """

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
    def comparison(self) -> Comparison | None: ...


def intent(tables: Sequence[str], existing: Sequence[str], folder: str, only_here: int = 0) -> Intent:
    """Return the intent to write tables. existing: those of them that are replaced. only_here: rows of these,
    at most, whose messages no stream has any more."""
    lines = [f"Would {'replace' if name in existing else 'write'} {folder}/{name}" for name in tables]
    verb = "replace" if list(tables) == list(existing) else "write"
    facts: dict[str, Any] = {
        "path": folder,
        "tables": [{"table": name, "replaces": name in existing} for name in tables],
    }
    action = f"{verb} {', '.join(tables)} in {folder}"
    if only_here:
        note = describe_only_here(only_here)
        lines.append(f"They have {note}")
        facts["only_here"] = only_here
        action += f", with {note}"
    return Intent(action, facts, lines)


def describe_only_here(count: int) -> str:
    """Return `up to 20 rows of messages that the streams no longer have`."""
    return f"up to {pluralize(count, 'row')} of messages that the streams no longer have"


class Compacted(Protocol):
    """What was done to a table: jsctl.spark.export.compaction.Compaction."""

    @property
    def table(self) -> str: ...
    @property
    def before(self) -> int: ...
    @property
    def after(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def rows(self) -> int: ...


def compacted(tables: Sequence[Compacted], folder: str, duration: int) -> Result:
    """Show the result of `export compact`. duration: ns."""
    lines = []
    for table in tables:
        files = f"{pluralize(table.before, 'file')}, {format_bytes(table.bytes)}"
        change = f"{table.after} now" if table.after < table.before else "as it was"
        lines.append(Text(f"{table.table}: {files}: {change}"))
    data = {
        "to": folder,
        "seconds": round(duration / SECOND, 3),
        "tables": [
            {
                "table": table.table,
                "files_before": table.before,
                "files": table.after,
                "bytes": table.bytes,
                "rows": table.rows,
            }
            for table in tables
        ],
    }
    return Result(lines or [Text(f"{folder} has no tables")], data)


def streams(
    outcomes: Sequence[Exported], failures: Mapping[str, JsctlError], folder: str, duration: int
) -> Result:
    """Show the result of `export stream`: the closing line, and data with a record for each stream.

    failures: of streams, by table. duration: ns. The status is that of the first failure, and FAILURE when a
    table differs from its stream.
    """
    rows = [_build_record(outcome, failures.get(outcome.table)) for outcome in outcomes]
    deleted = [row["deleted"] for row in rows]
    data: dict[str, Any] = {
        "exported": sum(row["exported"] for row in rows),
        "bytes": sum(row["bytes"] for row in rows),
        "deleted": None if None in deleted else sum(deleted),
        "lost": sum(row["lost"] for row in rows),
        "bad": sum(row["bad"] for row in rows),
        "seconds": round(duration / SECOND, 3),
        "to": folder,
        "streams": rows,
    }
    is_good = all(row["verified"]["same"] for row in rows if "verified" in row)
    status = ExitStatus.OK if is_good else ExitStatus.FAILURE
    return Result([Text(closing(data))], data, next((e.status for e in failures.values()), status))


def closing(data: Mapping[str, Any]) -> str:
    """Return the line at the end of `export stream`, from its data, and a line for each table that was
    verified.
    """
    failed = [row["table"] for row in data["streams"] if "error" in row]
    parts = [
        f"exported {pluralize(data['exported'], 'message')} ({format_bytes(data['bytes'])}) to {data['to']}",
        *_describe_missing(data["deleted"], data["lost"]),
        *([f"bad payloads {format_count(data['bad'])}"] if data["bad"] else []),
        *([f"failed {', '.join(failed)}"] if failed else []),
        f"in {data['seconds']:.1f}s",
    ]
    verified = [_format_verification(row) for row in data["streams"] if "verified" in row]
    return "\n".join([", ".join(parts), *verified])


def so_far(outcomes: Sequence[Exported], word: str = "so far") -> str:
    """Return `5 messages (9 B) so far, deleted 0, lost 0`, the status line of `--follow`."""
    deleted = [outcome.deleted for outcome in outcomes if outcome.deleted is not None]
    count = sum(outcome.exported for outcome in outcomes)
    size = format_bytes(sum(outcome.bytes for outcome in outcomes))
    missing = _describe_missing(
        sum(deleted) if len(deleted) == len(outcomes) else None, sum(outcome.lost for outcome in outcomes)
    )
    return ", ".join([f"{pluralize(count, 'message')} ({size}) {word}", *missing])


def _describe_missing(deleted: int | None, lost: int) -> list[str]:
    """Return how many messages were deleted, and how many were lost.

    deleted: None if only some subjects are read: deletions then look like messages on other subjects, and
    what is lost may have been on other subjects, too.
    """
    if deleted is None:
        return ["deleted not counted", f"lost {'up to ' if lost else ''}{format_count(lost)}"]
    return [f"deleted {format_count(deleted)}", f"lost {format_count(lost)}"]


def _build_record(outcome: Exported, failure: JsctlError | None) -> dict[str, Any]:
    row = {**_record_outcome(outcome), "seconds": round(outcome.seconds, 3)}
    if failure is not None:
        row |= {"error": failure.message, "hint": failure.hint}
    if outcome.comparison is not None:
        comparison = outcome.comparison
        row["verified"] = {
            "same": comparison.is_same,
            "table": _record_summary(comparison.table),
            "stream": _record_summary(comparison.stream),
            "missing": comparison.missing,
            "changed": comparison.changed,
            "twice": comparison.repeated,
            "foreign": comparison.foreign,
            "gone": comparison.removed,
        }
    return row


def _format_verification(row: Mapping[str, Any]) -> str:
    comparison = row["verified"]
    removed = comparison["gone"]
    suffix = f"; {format_count(removed)} more were removed from the stream" if removed else ""
    if comparison["same"]:
        table = comparison["stream"]
        span = f", sequences {table['first']} to {table['last']}" if table["messages"] else ""
        count = pluralize(table["messages"], "message")
        return f"verified {row['table']}: {count}{span}, digest {table['digest']}{suffix}"
    words = ("missing", "changed", "twice", "foreign")
    wrong = ", ".join(f"{format_count(comparison[word])} {word}" for word in words if comparison[word])
    return f"{row['table']} differs from the stream: {wrong}{suffix}"


def _format_kind(name: str, type: str) -> Kind:
    if type == "bigint" and name == "bytes":
        return "bytes"
    return _KINDS.get(type, "text")


def _build_cell(value: Any) -> Any:
    """Return a value for a table."""
    if isinstance(value, bytes):
        text = as_text(value)
        return Cell(value, shorten(value) if text is None else text)
    if isinstance(value, Decimal):
        return Cell(value, f"{value:f}")
    return Cell(value, encode_json(value)) if isinstance(value, (list, dict)) else value


def _list_fields(pairs: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a row; binary by the rule of `encode_field`."""
    for name, value in pairs:
        if isinstance(value, bytes):
            yield from encode_field(name, value).items()
        else:
            yield name, value
