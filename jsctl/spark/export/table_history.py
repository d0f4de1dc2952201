"""What the commits of a table say about an export: the newest that counts has its position."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jsctl.base.json_text import parse_json
from jsctl.errors import BadInput

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEY = "jsctl"

_WINDOWS = (20, 2000, 0)  #: how many commits are looked at, one after the other; 0 for all


@dataclass(frozen=True, slots=True)
class Position:
    """Where an export stands in a table. checkpoint: empty for a table without one. number: of its last
    commit, from 1. base: the version of the table, None for one without."""

    checkpoint: Mapping[str, Any] = field(default_factory=dict)
    number: int = 0
    base: int | None = None


def name_property(export: str) -> str:
    """Return the name of the property of a snapshot with an export's text."""
    return f"{KEY}.{export}"


def _parse(text: str | None, export: str) -> dict[str, Any] | None:
    """Return what a commit says about an export; None when it is not of this one."""
    try:
        entry = parse_json(text or "null")
    except ValueError:
        return None
    if not isinstance(entry, dict) or entry.get(KEY) != export:
        return None
    if not isinstance(entry.get("checkpoint"), dict) or not isinstance(entry.get("commit"), int):
        return None
    return entry


def find_in_delta(session: "SparkSession", name: str, export: str) -> Position:
    """Find the position in the history. What was written after the version to which the table was set back
    does not count, but its numbers are used."""
    number, checkpoint, limit = 0, None, None
    for count in _WINDOWS:
        number, checkpoint, limit = 0, None, None
        rows = _read_history(session, name, count)
        for row in rows:
            if limit is None and row["operation"] == "RESTORE":
                limit = _find_restored(name, row, rows)
            entry = _parse(row["userMetadata"], export)
            if not entry:
                continue
            number = max(number, entry["commit"])
            if limit is None or row["version"] <= limit:
                checkpoint = entry["checkpoint"]
                break
        if checkpoint is not None or len(rows) < count:
            break
    return Position(checkpoint or {}, number)


def _find_restored(name: str, row: Any, rows: Sequence[Any]) -> int:
    """Return the version that a table was set back to."""
    parameters = row["operationParameters"]
    if (version := parameters.get("version")) not in (None, ""):
        return int(version)
    moment = parameters.get("timestamp")
    versions = [int(other["version"]) for other in rows if moment and str(other["timestamp"]) <= str(moment)]
    if not versions:
        raise BadInput(
            f"{name} was restored to a time, and its history does not show which commits count",
            "restore it to a version",
        )
    return max(versions)


def _read_history(session: "SparkSession", name: str, count: int) -> list[Any]:
    history = session.sql(f"DESCRIBE HISTORY {name}" + (f" LIMIT {count}" if count else ""))
    columns = ("version", "timestamp", "operation", "operationParameters", "userMetadata")
    return sorted(history.select(*columns).collect(), key=lambda row: -row["version"])


def find_in_iceberg(session: "SparkSession", name: str, export: str) -> Position:
    base = None
    for snapshot, text in _read_snapshots(session, name, export):
        base = snapshot if base is None else base
        if entry := _parse(text, export):
            return Position(entry["checkpoint"], entry["commit"], base)
    return Position(base=base)


def _read_snapshots(session: "SparkSession", name: str, export: str) -> list[tuple[int, str | None]]:
    """Return the snapshots that the present one is built on, the newest first, with an export's text."""
    key = name_property(export)
    rows = session.sql(
        f"SELECT h.snapshot_id, s.parent_id, s.summary['{key}'] AS text FROM {name}.history h"
        f" JOIN {name}.snapshots s USING (snapshot_id) WHERE h.is_current_ancestor"
        " ORDER BY h.made_current_at DESC"
    ).collect()
    unique = {row["snapshot_id"]: row["text"] for row in rows}
    return list(unique.items())


def list_entries(session: "SparkSession", name: str, format: str, export: str) -> Iterator[dict[str, Any]]:
    """Yield what the commits of a table say about an export, the newest first. Raises what Spark raises."""
    if format == "iceberg":
        texts = [text for _, text in _read_snapshots(session, name, export)]
    else:
        texts = [row["userMetadata"] for row in _read_history(session, name, 0)]
    yield from (entry for text in texts if (entry := _parse(text, export)))
