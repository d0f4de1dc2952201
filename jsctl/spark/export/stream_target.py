"""The folder of exported streams: a folder a table, and beside the data a checkpoint a table.

A table's checkpoint says which sequences the table holds. It is staged with the data and moved in by the
same step (see jsctl.spark.export.target): a run which is killed leaves both or none, once the next one has
looked.
"""

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from jsctl.errors import BadInput, JsctlError
from jsctl.files import write_atomically
from jsctl.spark.export.target import MARKER, Target, read_marker

KIND = "stream"
CHECKPOINTS = "_checkpoints"
_REPLACE = "replace.json"

FILES = ("parquet", "json", "csv", "orc", "avro", "xml", "text")
"""Formats whose tables are nothing but files. Others may keep a log of their own."""


class StreamTarget(Target):
    """`hold` it for as long as a run takes; `commit` writes a table's data with its checkpoint."""

    @classmethod
    def at(cls, path: Path, format: str, tables: Sequence[str]) -> "StreamTarget":
        """Raises BadInput where something else is at `path`. Writes nothing."""
        opened = cls.open(path, KIND, format, tables)
        return cls(opened.path, KIND, format, tables)

    @contextlib.contextmanager
    def hold(self) -> Iterator[None]:
        """Be the only run on this folder, made when it is not there. What a killed run left is settled
        before, what this one leaves when it fails is removed after. Raises BadInput for a second run."""
        made = not self.path.exists()
        self.path.mkdir(parents=True, exist_ok=True)
        lock = os.open(self.path, os.O_RDONLY)
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise BadInput(f"another export writes to {self.path}", "wait for its end") from None
            self.settle()
            try:
                yield
            finally:
                self.settle()
                if made:
                    with contextlib.suppress(OSError):  # not empty
                        self.path.rmdir()
        finally:
            os.close(lock)

    def settle(self) -> None:
        """Complete or undo what is staged, also what Spark wrote after it was told to stop."""
        self.recover()
        shutil.rmtree(self.path / ".staging", ignore_errors=True)

    def checkpoint(self, table: str) -> dict[str, Any] | None:
        """What a table holds, or None when there is no such table. Raises JsctlError."""
        return read_checkpoint(self.path, table)

    def has(self, table: str) -> bool:
        """Whether there is anything under a table's name."""
        return self.checkpoint(table) is not None or (self.path / table).exists()

    @contextlib.contextmanager
    def commit(self, table: str, *, replace: bool = False) -> Iterator[tuple[Path, dict[str, Any]]]:
        """Yields (a folder to write the data into, the checkpoint to fill in). When the block ends without an
        error both take their place, instead of the table that is there with `replace`."""
        checkpoint: dict[str, Any] = {}
        with self.stage() as folder:
            yield folder / table, checkpoint
            kept = folder / CHECKPOINTS / f"{table}.json"
            kept.parent.mkdir()
            kept.write_text(json.dumps(checkpoint, indent=2) + "\n")
            if replace:
                (folder / _REPLACE).write_text(json.dumps([table]))

    def _move(self, folder: Path) -> None:
        replaced = folder / _REPLACE
        if replaced.exists():
            for table in json.loads(replaced.read_text()):
                shutil.rmtree(self.path / table, ignore_errors=True)
                (self.path / CHECKPOINTS / f"{table}.json").unlink(missing_ok=True)
            replaced.unlink()  # from here on only new files move
        if self.format not in FILES:
            for table in self.tables:
                if (folder / table).is_dir() and not (self.path / table).exists():
                    (folder / table).rename(self.path / table)
        super()._move(folder)

    def _write_marker(self) -> None:
        known = (read_marker(self.path) or {}).get("tables", [])
        wanted = list(dict.fromkeys([*known, *self.tables]))
        if wanted != known:
            marker = {"kind": KIND, "format": self.format, "tables": wanted}
            write_atomically(self.path / MARKER, json.dumps(marker) + "\n", mode=None)


def read_checkpoint(path: Path, table: str) -> dict[str, Any] | None:
    """What a table of an export at `path` holds, or None. Raises JsctlError when it cannot be read."""
    file = path / CHECKPOINTS / f"{table}.json"
    try:
        found = json.loads(file.read_text())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise JsctlError(f"cannot read {file}: {error}") from None
    if not isinstance(found, dict) or not {"created", "from", "next", "settings"} <= found.keys():
        raise JsctlError(f"{file} is no checkpoint of an export")
    return found
