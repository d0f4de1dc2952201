"""What runs the tasks of an export that read a stream and write its table: a session of Spark, or a pool of
processes without one (`task_pool`)."""

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from jsctl.spark.export import formats, shared_folder
from jsctl.spark.export.catalog_table import CatalogTable
from jsctl.spark.export.table_files import has_parquet_settings
from jsctl.spark.export.targets import Destination, TablesTarget, read_rows
from jsctl.spark.export.task_folders import FolderOpener, find_opener
from jsctl.spark.session.cluster import runs_elsewhere
from jsctl.spark.session.hadoop import Place
from jsctl.spark.session.session import SessionOptions, preload
from jsctl.spark.session.task_progress import cancel_jobs, find_context

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Written:
    """A table that tasks have written, and that is not committed. schema: its columns. folder: a new one, or
    one with other files beside those of the table."""

    target: TablesTarget
    table: str
    schema: "StructType"
    folder: Destination


class Engine(Protocol):
    """Runs tasks. is_here: all of them on this machine."""

    @property
    def is_here(self) -> bool: ...

    @property
    def spark(self) -> "SparkSession":
        """The session. Raises TypeError if there is none."""

    def check_format(self, format: str) -> None:
        """Raise MissingDependency for a format that it lacks."""

    def cancel(self) -> None:
        """End the tasks that run; what waits for them gets an error. May be called from any thread."""

    def find_task_folders(self, path: "Place | CatalogTable") -> FolderOpener | None:
        """Return what opens folders for tasks that write Parquet files, None if they cannot write there."""

    def run(self, task: Callable[[int], T], count: int) -> list[T]:
        """Return what `task` returns for the numbers below `count`. Raises what it raises."""

    def check_visible(self, written: Written, rows: int) -> None:
        """Raise JsctlError unless this machine sees everything that was written."""

    def count_rows(self, written: Written, start: int, end: int) -> int:
        """Return how many of the sequences [start, end) were written."""


class EngineStart(Protocol):
    """How an engine starts."""

    def preload(self) -> AbstractContextManager[None]:
        """Import what `open` needs, while the caller waits for something else. The context is left after that
        of `open`."""

    def starting(self) -> AbstractContextManager[None]:
        """Say that the engine starts, in what is done for it before `open`, which says it, too."""

    def open(self, *, fast_start: bool) -> AbstractContextManager[Engine]:
        """Open the engine. fast_start: for short work."""


@dataclass(frozen=True, slots=True)
class SparkStart:
    """The start of a session of Spark."""

    session: SessionOptions

    def preload(self) -> AbstractContextManager[None]:
        preload()
        return contextlib.nullcontext()

    def starting(self) -> AbstractContextManager[None]:
        return self.session.starting()

    @contextlib.contextmanager
    def open(self, *, fast_start: bool) -> Iterator[Engine]:
        with self.session.open(fast_start=fast_start) as spark:
            yield SparkEngine(spark)


@dataclass(frozen=True, slots=True)
class SparkEngine:
    """A session of Spark."""

    spark: "SparkSession"

    @property
    def is_here(self) -> bool:
        return not runs_elsewhere(self.spark)

    def check_format(self, format: str) -> None:
        formats.check_available(self.spark, format)

    def cancel(self) -> None:
        cancel_jobs(self.spark)

    def find_task_folders(self, path: "Place | CatalogTable") -> FolderOpener | None:
        if isinstance(path, CatalogTable) or find_context(self.spark) is None:
            return None
        return None if has_parquet_settings(self.spark) else find_opener(path)

    def run(self, task: Callable[[int], T], count: int) -> list[T]:
        # Numbers alone are data, which goes through a file: partitions may hold logins. Not of frames: for
        # these, each Python imports pandas.
        return self.spark.sparkContext.parallelize(range(count), count).map(task).collect()

    def check_visible(self, written: Written, rows: int) -> None:
        read = partial(read_rows, self.spark, written.target, written.table, written.schema, written.folder)
        shared_folder.check_visible(self.spark, written.folder, rows, read)

    def count_rows(self, written: Written, start: int, end: int) -> int:
        target, table = written.target, written.table
        files = target.list_uncommitted(table)
        rows = read_rows(self.spark, target, table, written.schema, written.folder, files)
        return rows.where(f"sequence >= {start} AND sequence < {end}").count()
