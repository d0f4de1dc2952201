"""The places that exports write to: folders of this machine, URIs of Hadoop's file systems, and tables of
catalogs."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from jsctl.errors import JsctlError
from jsctl.spark.export.catalog_table import TableWrite
from jsctl.spark.export.commit_log import CommitLog, State, TableState, lease, parse_write, read_state
from jsctl.spark.export.exported_tables import read_table
from jsctl.spark.export.formats import FILE_FORMATS
from jsctl.spark.export.stream_target import KIND, StreamTarget
from jsctl.spark.export.table_target import TableTarget
from jsctl.spark.export.target import Target, build_marker, check_owner
from jsctl.spark.session.hadoop import HadoopPath, Place, StoredFile

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_WAIT = 60.0  #: seconds that a report waits for another one that writes to the same tables


class ObjectTarget:
    """An export in one of Hadoop's file systems, such as an object store; see `spark.export.commit_log`.
    Before `connect`, nothing is known of what is there.

    Until a run has ended, others see its files in part; after the next run, each message once.
    """

    needs_session = True

    def __init__(self, path: HadoopPath, kind: str, format: str, tables: Sequence[str]) -> None:
        self.path = path
        self.kind = kind
        self.format = format
        self.tables = tables
        self._log: CommitLog | None = None
        self._state = State(kind, format)

    @property
    def save_mode(self) -> str:
        """Spark's mode of writing. Formats with a log of their own replace their table by themselves."""
        return "append" if self.format in FILE_FORMATS else "overwrite"

    def connect(self, spark: "SparkSession") -> None:
        """Connect to the file system. Raises BadInput when something else is there, JsctlError."""
        self.path = self.path.connect(spark)
        state = read_state(self.path)
        if state:
            check_owner(self.path, build_marker(state), self.kind, self.format)
            self._state = state
        elif any(not child.name.startswith("_") for child in self.path.iterdir()):
            check_owner(self.path, None, self.kind, self.format)

    @contextlib.contextmanager
    def lock(self, *, wait: float = 0) -> Iterator[None]:
        """Lock the export against other runs, and remove what killed ones left.

        wait: seconds to wait for another run. Raises BadInput when another run has it.
        """
        with lease(self.path, wait=wait):
            self._state = read_state(self.path) or State(self.kind, self.format)
            log = CommitLog(self.path)
            log.begin(self._state)
            self._log = log
            try:
                self._clean([*self._state.tables, *self.tables])
                yield
            finally:
                self._log = None
                if not self._state.tables:
                    with contextlib.suppress(JsctlError):
                        log.remove()

    def complete_killed_runs(self) -> None:
        """Do nothing: the next `lock` removes what killed runs left."""

    def recover(self) -> None:
        """Remove what killed runs left."""
        with self.lock(wait=_WAIT):
            pass

    def read_checkpoint(self, table: str) -> dict[str, Any] | None:
        """Return a table's checkpoint, or None when the table does not exist."""
        state = self._state.tables.get(table)
        return state.checkpoint if state else None

    def list_existing_tables(self) -> list[str]:
        """Return the tables of this target that exist."""
        return [table for table in self.tables if table in self._state.tables]

    def list_uncommitted(self, table: str) -> list[StoredFile]:
        """Return the files of a table that do not count: those of a run that has not ended, or was killed."""
        folder = self.path / table
        state = self._state.tables.get(table, TableState())
        return [file for file in folder.list_files() if not state.counts(file, folder)]

    @contextlib.contextmanager
    def commit(self, table: str, *, replace: bool = False) -> Iterator[tuple[HadoopPath, dict[str, Any]]]:
        """Yield (folder to write the data into, checkpoint to fill in).

        Both are committed when the block ends without an error. replace: they take the place of the present
        table.
        """
        checkpoint: dict[str, Any] = {}
        with self._cleaned([table]):
            yield self.path / table, checkpoint
            state = TableState() if replace else self._state.tables.get(table, TableState())
            has_rows = checkpoint["exported"] > state.checkpoint.get("exported", 0)
            writes = [*state.writes, *(self._find_write(self.list_uncommitted(table)) if has_rows else ())]
            self._write({table: TableState(writes, state.replaced, checkpoint)})

    @contextlib.contextmanager
    def stage(self, *, replace: bool = False) -> Iterator[HadoopPath]:
        """Yield a folder to write tables into, which are committed together when the block ends without an
        error.

        replace: a partition that was written takes the place of the one that was there.
        """
        with self.lock(wait=_WAIT), self._cleaned(self.tables):
            yield self.path
            changed: dict[str, TableState] = {}
            for table in self.tables:
                state = self._state.tables.get(table, TableState())
                files = self.list_uncommitted(table)
                replaced = {
                    str(file.path.relative_to(self.path / table).parent): parse_write(file)
                    for file in files
                    if replace
                }
                writes = [*state.writes, *self._find_write(files)]
                changed[table] = TableState(writes, {**state.replaced, **replaced}, state.checkpoint)
            self._write(changed)

    @contextlib.contextmanager
    def _cleaned(self, tables: Sequence[str]) -> Iterator[None]:
        """Remove files of these tables that do not count, at the end; after an error, if that is possible,
        since the next run does it, too."""
        try:
            yield
        except BaseException:
            with contextlib.suppress(JsctlError):
                self._clean(tables)
            raise
        self._clean(tables)

    def _clean(self, tables: Sequence[str]) -> None:
        if self.format not in FILE_FORMATS:
            return  # their own logs say what counts
        for table in dict.fromkeys(tables):
            files = self.list_uncommitted(table)
            if self._log is None or not self._log.is_newest():
                return  # what was listed may be another run's
            for file in files:
                file.path.unlink()
            (self.path / table / "_temporary").rmtree()

    def _find_write(self, files: Sequence[StoredFile]) -> list[str]:
        """Return the write that made these files, none without files.

        Raises JsctlError for several: one is of a run that was killed on this machine and goes on on others.
        """
        writes = sorted({write for file in files if (write := parse_write(file))})
        if len(writes) > 1 and self.format in FILE_FORMATS:
            raise JsctlError(f"a killed export still wrote to {self.path}", "run it again")
        return writes

    def _write(self, changed: dict[str, TableState]) -> None:
        if self._log is None:
            raise RuntimeError("committed without a lock")
        state = State(self.kind, self.format, {**self._state.tables, **changed})
        self._log.commit(state)
        self._state = state


if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

FolderTarget = Target | ObjectTarget
FoldersTarget = StreamTarget | ObjectTarget
TablesTarget = FoldersTarget | TableTarget
Destination = Place | TableWrite
"""Where a table is written to: a folder, or a table of a catalog."""


def open_folder(place: Place, kind: str, format: str, tables: Sequence[str]) -> FolderTarget:
    """Return the target of an export that writes its tables together. Writes nothing. Raises BadInput when
    something else is there."""
    if isinstance(place, HadoopPath):
        return ObjectTarget(place, kind, format, tables)
    return Target.open(place, kind, format, tables)


def open_tables(place: Place, format: str, tables: Sequence[str]) -> FoldersTarget:
    """Return the target of an export of streams or buckets. Writes nothing. Raises BadInput when something
    else is there."""
    if isinstance(place, HadoopPath):
        return ObjectTarget(place, KIND, format, tables)
    return StreamTarget.open(place, KIND, format, tables)


def read_rows(
    spark: "SparkSession",
    target: TablesTarget,
    table: str,
    schema: "StructType",
    folder: Destination | None = None,
    files: Sequence[StoredFile] | None = None,
) -> "DataFrame":
    """Return the rows of an exported table. folder, files: that are read in its place, before they are
    committed. Raises what Spark raises, JsctlError."""
    if isinstance(target, TableTarget):
        return target.read(spark, schema)
    if folder is None or isinstance(folder, TableWrite):
        folder = target.path / table
    return read_table(spark, folder, target.format, schema, files)
