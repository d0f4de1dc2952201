"""Write the table of an export: by Spark, or, where that gives the same, by the tasks that read the messages.

For Spark to write them, messages go from the Python of a task to the JVM, and are turned into rows and back
into columns there. That takes as much processor time as to read them, twenty times what pyarrow needs to
write the same file. So a Parquet table of messages as they are is written by the tasks themselves, on this
machine, unless settings say how Spark is to write its files.
"""

import contextlib
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

from jsctl.errors import JsctlError
from jsctl.spark.export.formats import build_spark_options
from jsctl.spark.session.folders import write_path

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, Observation, SparkSession
    from pyspark.sql.types import StructType

    from jsctl.spark.source.batch_reader import JetStreamReader, RangePartition

ROW_GROUP = 32 << 20
"""Bytes of messages that a task has in memory before it writes them."""

_OF_PARQUET = ("spark.sql.parquet.", "spark.hadoop.parquet.", "spark.sql.files.", "spark.sql.sources.")
"""How the names of settings for files begin."""


class Counts(NamedTuple):
    """The content of a table in numbers.

    first, last: sequences, None without rows. bytes: of payload. bad: payloads that could not be decoded.
    """

    rows: int = 0
    first: int | None = None
    last: int | None = None
    bytes: int = 0
    bad: int = 0


class TableFiles(Protocol):
    """A table to write. schema: its columns."""

    @property
    def schema(self) -> "StructType": ...

    def write(self, folder: Path) -> Counts:
        """Write the table into a new folder. Raises what Spark raises."""


@dataclass(frozen=True, slots=True)
class SparkFiles:
    """A table that Spark writes. read: observes rows, first, last and bytes of what is read. decoded:
    observes bad, None when nothing is decoded."""

    table: "DataFrame"
    format: str
    partition_by: Sequence[str]
    read: "Observation"
    decoded: "Observation | None"

    @property
    def schema(self) -> "StructType":
        return self.table.schema

    def write(self, folder: Path) -> Counts:
        # The folder is new; "append", because not every format can fail when a table exists.
        writer = (
            self.table.write.format(self.format).options(**build_spark_options(self.format)).mode("append")
        )
        if self.partition_by:
            writer = writer.partitionBy(*self.partition_by)
        writer.save(write_path(folder))
        counts = self.read.get
        bad = self.decoded.get["bad"] if self.decoded else 0
        return Counts(counts["rows"], counts["first"], counts["last"], counts["bytes"] or 0, bad)


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
    """A table that the reading tasks write into Parquet files like Spark's."""

    spark: "SparkSession"
    reader: "JetStreamReader"

    @property
    def schema(self) -> "StructType":
        from pyspark.sql.types import StructType

        from jsctl.spark.source.batch_reader import build_spark_schema

        fields = build_spark_schema(self.reader.options)
        return StructType([fields[name] for name in _ORDER if name in fields.names])

    def write(self, folder: Path) -> Counts:
        folder.mkdir(parents=True)
        reader, partitions, names = self.reader, self.reader.partitions(), self.schema.names
        about = {
            "org.apache.spark.version": self.spark.version,
            "org.apache.spark.sql.parquet.row.metadata": self.schema.json(),
        }

        def write(number: int) -> _Part:
            return _write_part(reader, partitions[number], number, folder, names, about)

        # Numbers alone are data, which goes through a file: partitions may hold logins. Not of frames: for
        # these, each Python imports pandas.
        tasks = self.spark.sparkContext.parallelize(range(len(partitions)), len(partitions))
        parts = tasks.map(write).collect()
        label = uuid.uuid4()
        for number, part in enumerate(parts):
            if part.name:
                (folder / part.name).rename(folder / f"part-{number:05}-{label}-c000.snappy.parquet")
        full = [part.counts for part in parts if part.counts.rows]
        return Counts(
            sum(counts.rows for counts in full),
            min((counts.first for counts in full if counts.first is not None), default=None),
            max((counts.last for counts in full if counts.last is not None), default=None),
            sum(counts.bytes for counts in full),
        )


class _Part(NamedTuple):
    """The file that a task wrote. name: of the file, empty for none."""

    name: str
    counts: Counts


_ORDER = ("stream", "subject", "sequence", "timestamp", "headers", "data")
"""Of the columns in a table."""


def _write_part(
    reader: "JetStreamReader",
    partition: "RangePartition",
    number: int,
    folder: Path,
    names: Sequence[str],
    about: Mapping[str, str],
) -> _Part:
    """Read a partition and write it to a hidden file of this attempt.

    Without messages there is no file, but for the first partition: an empty table has its columns.
    """
    import pyarrow.compute as pc

    from jsctl.spark.source import columns

    rows = size = 0
    first = last = None
    name = f".part-{number:05}-{uuid.uuid4()}.parquet"
    with _RowGroups(folder / name, columns.build_schema(names), about) as file:
        for batch in reader.read(partition):
            if len(batch):
                messages = batch.select(names)
                sequences, payloads = messages["sequence"], messages["data"]
                first = sequences[0].as_py() if first is None else first
                last = sequences[-1].as_py()
                rows += len(batch)
                size += pc.sum(pc.binary_length(payloads)).as_py()
                file.add(messages)
        if not rows and number:
            name = ""
        else:
            file.finish()
    return _Part(name, Counts(rows, first, last, size))


_REPEATED = ("stream", "subject", "data", "headers.list.element.key", "headers.list.element.value")
"""Columns of a file whose values may be the same in many messages."""


class _RowGroups:
    """A Parquet file, written in groups of as many messages as may be in memory. Every method raises
    JsctlError when it cannot be written."""

    def __init__(self, path: Path, schema: "pa.Schema", about: Mapping[str, str]) -> None:
        self._path = path
        self._schema = schema
        self._about = about
        self._batches: list[pa.RecordBatch] = []
        self._size = 0
        self._stack = contextlib.ExitStack()
        self._writer: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._told():
            self._stack.close()

    def add(self, messages: "pa.RecordBatch") -> None:
        self._batches.append(messages)
        self._size += messages.nbytes
        if self._size >= ROW_GROUP:
            self._write()

    def finish(self) -> None:
        """Write what is left. A file without messages has its columns."""
        if self._batches or self._writer is None:
            self._write()

    def _write(self) -> None:
        import pyarrow as pa

        table = pa.Table.from_batches(self._batches, self._schema)
        with self._told():
            if self._writer is None:
                self._writer = self._open()
            self._writer.write_table(table)
        self._batches.clear()
        self._size = 0

    def _open(self) -> Any:
        from pyarrow import parquet

        file = self._stack.enter_context(self._path.open("xb"))
        writer = parquet.ParquetWriter(
            file,
            self._schema,
            compression="snappy",
            # As in Spark's files: no dictionary of values that are all different, and no schema of Arrow's.
            use_dictionary=[path for path in _REPEATED if path.partition(".")[0] in self._schema.names],
            store_schema=False,
            write_page_index=True,
        )
        writer.add_key_value_metadata(self._about)
        return self._stack.enter_context(writer)

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            target = str(self._path).partition("/.staging/")[0]
            raise JsctlError(f"Spark cannot write to {target}: {error.strerror or error}") from None
