"""What people see of backups and restores."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jsctl.errors import ExitStatus
from jsctl.jetstream.api import Json
from jsctl.jetstream.backup.files import DATA
from jsctl.units import SECOND, format_bytes, format_count, format_duration
from jsctl.views.result import Cell, Column, Part, Result, Style, Table, Text
from jsctl.views.shared.text import plural


def begins(name: str, state: Json, what: str = "backup") -> str:
    """The line that starts a backup or copy."""
    messages, size = int(state.get("messages", 0)), int(state.get("bytes", 0))
    return f"Starting {what} of Stream {name} with {format_count(messages)} messages, {format_bytes(size)}"


def saved(name: str, path: Path, manifest: Json, took: int) -> Result:
    """A backup that was made. took: ns."""
    data = record(name, path, manifest, took)
    kept, unpacked = data["stored_bytes"], data["bytes"]
    lines = (
        f"Received {format_bytes(kept)} compressed data in {plural(data['chunks'], 'chunk')} "
        f"for Stream {name} in {format_duration(took)}, {rate(unpacked, took)}, "
        f"{format_bytes(unpacked)} uncompressed",
        f"The backup with {plural(data['messages'], 'message')} is in {path}",
        f"SHA-256 {data['sha256']}",
    )
    return Result([Text("\n".join(lines))], data=data)


def record(name: str, path: Path, manifest: Json, took: int) -> dict[str, Any]:
    """A backup as a JSON object."""
    file = manifest["files"][DATA]
    return {
        "stream": name,
        "target": str(path),
        "messages": int(manifest["state"].get("messages", 0)),
        "bytes": int(manifest["unpacked"]),
        "stored_bytes": int(file["bytes"]),
        "chunks": int(manifest["chunks"]),
        "consumers": len(manifest.get("consumers") or []),
        "sha256": file["sha256"],
        "duration": took,
    }


def rate(size: int, took: int) -> str:
    """`120 MiB/s`."""
    return f"{format_bytes(size * SECOND // max(took, 1))}/s"


def entries(title: str, rows: Sequence[Json], done: str, took: int) -> Result:
    """What became of each stream of an account: `{stream, messages, bytes, status, remark}`. `done` is the
    verb of those that went well. Fails when one failed. took: ns."""
    failed = [row for row in rows if row["status"] == "failed"]
    columns = [
        Column("Stream", "stream"),
        Column("Messages", "messages", "count"),
        Column("Size", "bytes", "bytes"),
        Column("Result", "status"),
        Column("Remark", "remark"),
    ]
    styles: dict[str, Style] = {"failed": "bad", "warning": "warn"}
    ordered = sorted(rows, key=lambda row: str(row["stream"]))
    shown = [
        [
            Cell(row["status"], row["status"], styles.get(row["status"], ""))
            if column.key == "status"
            else row[column.key]
            for column in columns
        ]
        for row in ordered
    ]
    good = len(rows) - len(failed)
    told = f"{format_count(good)} of {format_count(len(rows))} streams were {done} in {format_duration(took)}"
    if failed:
        told += "; not " + ", ".join(str(row["stream"]) for row in failed)
    status = ExitStatus.FAILURE if failed else ExitStatus.OK
    parts: list[Part] = [Table(title, columns, shown), Text(told, "bad" if failed else "")]
    return Result(parts, data=ordered, status=status)
