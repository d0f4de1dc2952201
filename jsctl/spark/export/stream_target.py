"""The folder of exported streams: one folder and one checkpoint for each table.

A table's checkpoint says which sequences the table holds. It is staged with the data and moved in by the same
step (see `jsctl.spark.export.target`): of a run that is killed, the next run finds or restores both or none.
"""

import contextlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from jsctl.base.files import CONFIG_SIZE, read_text
from jsctl.base.json_text import parse_json
from jsctl.base.posix import lock, open_folder
from jsctl.errors import BadInput, JsctlError
from jsctl.jetstream.shape_check import NUMBER, Shape, check
from jsctl.spark.export.commit_log import StateReader, read_state
from jsctl.spark.export.formats import FILE_FORMATS
from jsctl.spark.export.target import STAGING, Target, check_names, read_document
from jsctl.spark.session.hadoop import HadoopPath, Place

KIND = "stream"
CHECKPOINTS = "_checkpoints"
_REPLACE = "replace.json"


class StreamTarget(Target):
    """The folder of an export of streams. A run locks it with `lock`, and writes a table's data and
    checkpoint with `commit`."""

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Lock this folder against other runs; create it when it does not exist.

        Completes or undoes what a killed run staged, and at the end removes what this run staged and did not
        commit. Raises BadInput when another run has the lock.
        """
        is_new = not self.path.exists()
        self.path.mkdir(parents=True, exist_ok=True)
        descriptor = open_folder(self.path.resolve())
        try:
            try:
                lock(descriptor, wait=False)
            except BlockingIOError:
                raise BadInput(f"another export writes to {self.path}", "wait until it has ended") from None
            self._clean_staging()
            try:
                yield
            finally:
                self._clean_staging()
                if is_new:
                    with contextlib.suppress(OSError):  # not empty
                        self.path.rmdir()
        finally:
            os.close(descriptor)

    def complete_killed_runs(self) -> None:
        """Move in the tables that killed runs had completely written.

        Raises BadInput when another run is active.
        """
        if self.path.exists():
            with self.lock():
                pass

    def _clean_staging(self) -> None:
        """Complete or undo what is staged, including what Spark wrote after it was stopped."""
        self.recover()
        shutil.rmtree(self.path / STAGING, ignore_errors=True)

    def list_uncommitted(self, table: str) -> None:
        """Return None: what is not committed is in a folder of its own."""

    def read_checkpoint(self, table: str) -> dict[str, Any] | None:
        """Return a table's checkpoint, or None when the table does not exist. Raises JsctlError."""
        return read_checkpoint(self.path, table)

    def list_existing_tables(self) -> list[str]:
        """Return the tables of this target that have a folder or a checkpoint."""
        return [
            table
            for table in self.tables
            if self.read_checkpoint(table) is not None or (self.path / table).exists()
        ]

    @contextlib.contextmanager
    def commit(self, table: str, *, replace: bool = False) -> Iterator[tuple[Path, dict[str, Any]]]:
        """Yield (folder to write the data into, checkpoint to fill in).

        Both are moved in when the block ends without an error. replace: they take the place of the present
        table.
        """
        checkpoint: dict[str, Any] = {}
        with self.stage() as folder:
            yield folder / table, checkpoint
            file = folder / CHECKPOINTS / f"{table}.json"
            file.parent.mkdir()
            file.write_text(json.dumps(checkpoint, indent=2) + "\n")
            if replace:
                (folder / _REPLACE).write_text(json.dumps([table]))

    def _move(self, folder: Path) -> None:
        replaced_tables = folder / _REPLACE
        if replaced_tables.exists():
            for table in _read_names(replaced_tables):
                shutil.rmtree(self.path / table, ignore_errors=True)
                (self.path / CHECKPOINTS / f"{table}.json").unlink(missing_ok=True)
            replaced_tables.unlink()  # from here on only new files move
        if self.format not in FILE_FORMATS:
            for table in self.tables:
                if (folder / table).is_dir() and not (self.path / table).exists():
                    (folder / table).rename(self.path / table)
        super()._move(folder)


def _read_names(file: Path) -> list[str]:
    """Return the tables that a file names. Raises JsctlError."""
    try:
        names = parse_json(read_text(file, regular=True))
        check(names, [str])
    except ValueError as error:
        raise JsctlError(f"cannot read {file}: {error}") from None
    check_names(names, file)
    return cast("list[str]", names)


_CHECKPOINT = Shape(
    {
        **dict.fromkeys(("from", "next", "exported", "lost", "bad"), int),
        "deleted": NUMBER,  # null if unknown
        "created": str,
        "settings": Shape({}),
        "columns": Shape({"fields": [Shape({"name": str}, ["name"])]}),
    },
    ("created", "from", "next", "settings"),
)


def read_checkpoint(path: Place, table: str, read: StateReader = read_state) -> dict[str, Any] | None:
    """Return the checkpoint of a table, None if there is none. Raises JsctlError when it cannot be read."""
    if isinstance(path, HadoopPath):
        state = read(path)
        found = state.tables.get(table) if state else None
        return found.checkpoint or None if found else None
    file = path / CHECKPOINTS / f"{table}.json"
    if not file.exists():
        return None
    return read_document(file, _CHECKPOINT, "a checkpoint", CONFIG_SIZE)
