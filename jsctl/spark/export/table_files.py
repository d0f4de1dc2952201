"""Writing the table of an export: by Spark, or, if that gives the same, by the tasks that read the messages.

For Spark to write them, messages go from the Python of a task to the JVM, and are turned into rows and back
into columns there. That takes as much processor time as to read them, twenty times what pyarrow needs to
write the same file. So Parquet tables are written by the tasks themselves, unless settings
say how Spark is to write its files.
"""

import uuid
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from jsctl.errors import JsctlError
from jsctl.spark.export import shared_folder
from jsctl.spark.export.catalog_table import TABLE_FORMATS, Counts, TableWrite
from jsctl.spark.export.formats import build_spark_options
from jsctl.spark.export.layout import PLAIN, Arrangement, TableLayout
from jsctl.spark.export.parts import Part, PartFiles
from jsctl.spark.export.table_schema import PARTITION
from jsctl.spark.export.targets import Destination, TablesTarget, read_rows
from jsctl.spark.export.task_folders import FolderOpener
from jsctl.spark.session.folders import read_path, write_path
from jsctl.spark.session.hadoop import HadoopPath, Place, list_files
from jsctl.spark.session.read_counter import ReadCounter

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, DataFrameWriter, Observation, SparkSession
    from pyspark.sql.types import StructType

    from jsctl.spark.source.batch_reader import JetStreamReader

_OF_PARQUET = ("spark.sql.parquet.", "spark.hadoop.parquet.", "spark.sql.files.", "spark.sql.sources.")
"""How the names of settings for files begin."""


class TableFiles(Protocol):
    """A table to write. schema: its columns."""

    @property
    def schema(self) -> "StructType": ...

    def write(self, folder: Destination) -> Counts:
        """Write the table into a new folder, beside the files in one, or to a table of a catalog. Raises what
        Spark raises."""


@dataclass(frozen=True, slots=True)
class SparkFiles:
    """A table that Spark writes. read: observes rows, first, last and bytes of what is read. decoded:
    observes bad, None when nothing is decoded."""

    table: "DataFrame"
    format: str
    save_mode: str
    layout: TableLayout
    read: "Observation"
    decoded: "Observation | None"

    @property
    def schema(self) -> "StructType":
        return self.table.schema

    def write(self, folder: Destination) -> Counts:
        write_frame(self.table, self.format, folder, self.save_mode, self.layout)
        if isinstance(folder, TableWrite) and self.format in TABLE_FORMATS:
            return folder.count()  # Delta's writes do not tell observations
        counts = self.read.get
        bad = self.decoded.get["bad"] if self.decoded else 0
        return Counts(counts["rows"], counts["first"], counts["last"], counts["bytes"] or 0, bad)


def build_writer(
    table: "DataFrame", format: str, folder: Place, layout: TableLayout = PLAIN
) -> "DataFrameWriter":
    """Return what writes a table into a folder. On object stores, tasks put their files where they stay: to
    move them in the end, one after the other, would take as long as to write them."""
    writer = table.write.format(format).options(**layout.build_write_options(format))
    if isinstance(folder, HadoopPath):
        writer = writer.option("mapreduce.fileoutputcommitter.algorithm.version", "2")
        writer = writer.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false")
    return writer


def write_frame(
    table: "DataFrame", format: str, folder: Destination, save_mode: str, layout: TableLayout = PLAIN
) -> None:
    """Write a table where it is to be. Raises what Spark raises."""
    names = [partition.name for partition in layout.partitions]
    if isinstance(folder, TableWrite):
        folder.write(table, names)
        return
    writer = build_writer(table, format, folder, layout).mode(save_mode)
    (writer.partitionBy(*names) if names else writer).save(write_path(folder))


def append_by_date(spark: "SparkSession", rows: "pa.Table", format: str, folder: Place) -> None:
    """Append rows with a date to a table in a folder. Raises what Spark raises, JsctlError when Spark wrote
    where this machine does not see it."""
    writer = build_writer(spark.createDataFrame(rows).coalesce(1), format, folder)
    writer.partitionBy(PARTITION).mode("append").save(write_path(folder))
    reader = spark.read.format(format).options(**build_spark_options(format))
    shared_folder.check_visible(spark, folder, rows.num_rows, lambda: reader.load(read_path(folder)))


def replace_table(
    spark: "SparkSession",
    target: TablesTarget,
    name: str,
    table: "DataFrame",
    counts: "Observation",
    settings: Mapping[str, Any],
    *,
    created: str = "",
    end: int = 0,
    check_bad: Callable[[int], None] = lambda count: None,
) -> tuple[int, int]:
    """Write a table in the place of the one of this name, or as the mode of a catalog's table says; return
    the number of rows, and of those that could not be decoded. Raises what Spark raises.

    counts: observes rows of the table, and the `last` revision if it has revisions. created, end: of the
    bucket, for tables of a catalog, which take them with the rows. check_bad: raises an error for too many
    rows that could not be decoded; nothing is changed then.
    """
    with target.commit(name, replace=True) as (folder, checkpoint):
        checkpoint |= {"created": created, "from": 0, "next": end}
        checkpoint |= {"settings": settings, "columns": table.schema.jsonValue()}
        write_frame(table, target.format, folder, target.save_mode)
        if isinstance(folder, TableWrite):
            counted = folder.count()
            return counted.rows, counted.bad
        observed = counts.get
        rows = int(observed["rows"])
        check_bad(int(observed.get("bad") or 0))
        shared_folder.check_visible(
            spark, folder, rows, lambda: read_rows(spark, target, name, table.schema, folder)
        )
        checkpoint |= {"exported": rows}
        if not end and "last" in observed:
            checkpoint["next"] = int(observed["last"] or 0) + 1
    return rows, int(observed.get("bad") or 0)


def _keep_only(folder: Place, write_id: str, names: AbstractSet[str]) -> None:
    """Remove what failed attempts of tasks wrote and others did not replace. Raises JsctlError when a file is
    missing: on a disk, another machine wrote it to one of its own."""
    files = {file.name: file.path for file in list_files(folder) if write_id in file.name}
    for name in files.keys() - names:
        files[name].unlink()
    if names - files.keys():
        if isinstance(folder, Path):
            raise shared_folder.build_error(folder)
        raise JsctlError(f"{folder} lacks files that were written to it", "run it again")


def has_parquet_settings(spark: "SparkSession") -> bool:
    """Return whether the session sets how Spark writes Parquet files."""
    from jsctl.spark.session.session import RUNTIME_CONF

    context = spark.sparkContext
    settings = {**dict(context.getConf().getAll()), **spark.conf.getAll}
    return any(
        name.startswith(_OF_PARQUET) and value != RUNTIME_CONF.get(name) for name, value in settings.items()
    )


@dataclass(frozen=True, slots=True)
class TaskFiles:
    """A table that the reading tasks write into Parquet files like Spark's. run_tasks: returns what a
    function returns for the numbers below a count. open_folder: returns a folder as they write to it.
    columns: its first columns, which those of the arrangement follow that are not among them. counter: counts
    what tasks read."""

    run_tasks: Callable[[Callable[[int], Part], int], list[Part]]
    reader: "JetStreamReader"
    arrangement: Arrangement
    open_folder: FolderOpener
    columns: Sequence[str] = ()
    counter: ReadCounter | None = None

    @property
    def schema(self) -> "StructType":
        from pyspark.sql.types import StructType

        fields = {field.name: field for field in self.arrangement.build_schema(self.reader.options)}
        return StructType([fields[name] for name in dict.fromkeys([*self.columns, *fields])])

    def write(self, folder: Destination) -> Counts:
        if isinstance(folder, TableWrite):
            raise TypeError(f"tasks cannot write to {folder}")
        from pyspark.sql.types import StructType

        apart = {partition.name for partition in self.arrangement.layout.partitions}
        schema = StructType([field for field in self.schema if field.name not in apart])
        write_id = str(uuid.uuid4())
        reader = self.reader
        files = PartFiles.of(self.open_folder(folder), write_id, self.arrangement, schema)
        partitions = reader.partitions()

        counter = self.counter

        def write(number: int) -> Part:
            rows = reader.read(partitions[number])
            start = partitions[number].job.start
            return files.write(number, counter.follow(number, start, rows) if counter else rows)

        parts = self.run_tasks(write, len(partitions))
        _keep_only(folder, write_id, {name for part in parts for name in part.files})
        full = [part for part in parts if part.rows]
        return Counts(
            sum(part.rows for part in full),
            min((part.first for part in full if part.first is not None), default=None),
            max((part.last for part in full if part.last is not None), default=None),
            sum(part.bytes for part in full),
            sum(part.bad for part in full),
        )
