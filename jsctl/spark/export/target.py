"""The folder that an export writes to: one folder for each table, with files by date below it.

Every write is staged in a hidden folder and then moved in. The next run completes a killed run whose files
were all staged, and undoes others. So readers see whole files only, and in the end all tables of a write or
none.
"""

import contextlib
import json
import os
import shutil
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

from jsctl.base import posix
from jsctl.base.files import SMALL_SIZE, read_text, write_atomically
from jsctl.base.json_text import parse_json
from jsctl.errors import BadInput, JsctlError
from jsctl.jetstream.shape_check import Malformed, Shape, check
from jsctl.spark.export.commit_log import State, StateReader, read_state
from jsctl.spark.session.hadoop import HadoopPath, Place

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MARKER = "_jsctl_export.json"
STAGING = ".staging"
_COMPLETE = "complete"
_REPLACES = "replaces"
_OLD = "_old"
_LOCK = ".lock"

FORMATS = ("parquet", "json", "csv")


class Target:
    """An export's folder.

    `open` checks that it belongs to an export or does not exist; `stage` writes to it.
    """

    needs_session = False
    """Whether what is there can be known only when Spark runs."""
    save_mode = "append"  # to a new folder; not every format can fail when a table exists

    def __init__(self, path: Path, kind: str, format: str, tables: Sequence[str]) -> None:
        self.path = path
        self.kind = kind
        self.format = format
        self.tables = tables

    @classmethod
    def open(cls, path: Path, kind: str, format: str, tables: Sequence[str]) -> Self:
        """Return the target at `path`. Writes nothing. Raises BadInput when something else is there."""
        if path.exists():
            if not path.is_dir():
                raise BadInput(f"{path} is a file", "name a folder that does not exist")
            marker = read_marker(path)
            if marker or any(child.name != STAGING for child in path.iterdir()):
                check_owner(path, marker, kind, format)
        else:
            above = next(parent for parent in path.absolute().parents if parent.exists())
            if not above.is_dir() or not os.access(above, os.W_OK):
                raise BadInput(f"cannot write below {above}", "name a folder that you may write to")
        return cls(path, kind, format, tables)

    def connect(self, spark: "SparkSession") -> None:
        """Do nothing: a folder of this machine needs no session."""

    def recover(self) -> None:
        """Complete or undo what killed runs left. Active runs are not touched."""
        for lock_file in (self.path / STAGING).glob("*" + _LOCK):
            with contextlib.suppress(BlockingIOError), lock_file.open("a") as lock:
                posix.lock(lock, wait=False)
                folder = lock_file.with_suffix("")
                if (folder / _COMPLETE).exists():
                    self._move(folder)
                self._clear(folder)

    @contextlib.contextmanager
    def stage(self, *, replace: bool = False) -> Iterator[Path]:
        """Yield a folder to write tables into, which is moved into the target when the block ends without an
        error.

        replace: a partition that was written takes the place of the one in the target.
        """
        is_new = not self.path.exists()
        folder = self.path / STAGING / uuid.uuid4().hex
        folder.parent.mkdir(parents=True, exist_ok=True)
        with folder.with_suffix(_LOCK).open("w") as lock:
            posix.lock(lock)
            try:
                folder.mkdir()
                yield folder
                self._write_marker()
                if replace:
                    (folder / _REPLACES).touch()
                (folder / _COMPLETE).touch()
                self._move(folder)
            finally:
                # What is complete and could not be moved remains for the next run.
                if not (folder / _COMPLETE).exists() or not any(_files(folder)):
                    self._clear(folder)
                if is_new and read_marker(self.path) is None:
                    with contextlib.suppress(OSError):  # not empty: another run's
                        self.path.rmdir()

    def _clear(self, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.with_suffix(_LOCK).unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # not empty: another run's
            folder.parent.rmdir()

    def _move(self, folder: Path) -> None:
        if (folder / _REPLACES).exists():
            for part in sorted(folder.glob("*/*=*")):
                destination = self.path / part.relative_to(folder)
                if destination.exists():
                    old = folder / _OLD / part.relative_to(folder)
                    old.parent.mkdir(parents=True, exist_ok=True)
                    destination.rename(old)
                destination.parent.mkdir(parents=True, exist_ok=True)
                part.rename(destination)
            shutil.rmtree(folder / _OLD, ignore_errors=True)
            return
        for file in _files(folder):
            destination = self.path / file.relative_to(folder)
            destination.parent.mkdir(parents=True, exist_ok=True)
            file.rename(destination)

    def _write_marker(self) -> None:
        known = (read_marker(self.path) or {"tables": []})["tables"]
        tables = list(dict.fromkeys([*known, *self.tables]))  # an older version knew fewer
        if tables != known:
            marker = {"kind": self.kind, "format": self.format, "tables": tables}
            write_atomically(self.path / MARKER, json.dumps(marker) + "\n", mode=None)


_SHAPE = Shape({"kind": str, "format": str, "tables": [str]}, ("kind", "format"))


def read_marker(path: Place, read: StateReader = read_state) -> dict[str, Any] | None:
    """Return the marker of an export's folder, None when it is not an export. Raises JsctlError when the
    marker cannot be read."""
    if isinstance(path, HadoopPath):
        state = read(path)
        return build_marker(state) if state else None
    if not (path / MARKER).exists():
        return None
    marker = read_document(path / MARKER, _SHAPE, "a description")
    tables = marker.get("tables") or []
    check_names(tables, path / MARKER)
    return {**marker, "tables": tables}


def read_document(file: Path, shape: Shape, noun: str, limit: int = SMALL_SIZE) -> dict[str, Any]:
    """Return a file of an export of at most `limit` bytes. noun: what it is of the export. Raises JsctlError
    for one that cannot be read, or has another shape."""
    try:
        document = parse_json(read_text(file, "", limit, regular=True))
    except ValueError as error:
        raise JsctlError(f"cannot read {file}: {error}") from None
    try:
        check(document, shape)
    except Malformed as fault:
        raise JsctlError(f"{file} is not {noun} of an export: {fault}") from None
    return cast("dict[str, Any]", document)


def build_marker(state: State) -> dict[str, Any]:
    """Return the marker that the folder of an export with this state would have."""
    return {"kind": state.kind, "format": state.format, "tables": list(state.tables)}


def check_owner(path: Place, marker: dict[str, Any] | None, kind: str, format: str) -> None:
    """Raise BadInput unless the export in a folder is of this kind and format. marker: None for a folder with
    something else."""
    if marker is None:
        raise BadInput(f"{path} exists and is not an export of jsctl", "name a folder that does not exist")
    if marker["kind"] != kind:
        raise BadInput(f"{path} holds an export of {marker['kind']}", "name another folder")
    if marker["format"] != format:
        raise BadInput(
            f"{path} holds {marker['format']}, not {format}",
            f"use --format {marker['format']} or another folder",
        )


def check_names(tables: Sequence[str], file: Path) -> None:
    """Raise JsctlError unless the tables that a file names are folders beside it: they may be removed."""
    for name in tables:
        if not isinstance(name, str) or "\0" in name or Path(name).name != name or name in ("", ".."):
            raise JsctlError(f"{file} names {name!r}, which is not a table")


def _files(folder: Path) -> Iterator[Path]:
    """Return the data files of a staged write, without Spark's own (`_SUCCESS`, `.crc`)."""
    for file in sorted(folder.glob("*/**/*")):
        if file.is_file() and not file.name.startswith(("_", ".")):
            yield file
