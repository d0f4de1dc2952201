"""Parquet files of messages, like those that Spark writes."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from jsctl.spark.decoding.model import BAD_PAYLOAD
from jsctl.spark.export.layout import Arrangement
from jsctl.spark.export.task_folders import TaskFolder, name_in_errors

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

ROW_GROUP = 32 << 20
"""Bytes of messages that are in memory before they are written."""

PARTITIONED = 96 << 20
"""The same where a file has the messages of one partition: each part then has files of each partition."""

SPLIT = 100
"""Messages for each known partition that are split together: to split few costs more for each."""


class Part(NamedTuple):
    """A part of a table. files: their paths in the table; none without rows. first, last: sequences, None
    without rows. bytes: of payload. bad: payloads that could not be decoded."""

    files: Sequence[str]
    rows: int
    first: int | None
    last: int | None
    bytes: int
    bad: int


@dataclass(frozen=True, slots=True)
class PartFiles:
    """Files of parts in a folder. write_id: UUID of the write, which is part of their names. arrangement:
    makes the rows. schema: of the columns in the files. about: the files' own metadata."""

    folder: TaskFolder
    write_id: str
    arrangement: Arrangement
    schema: "StructType"
    about: Mapping[str, str]

    @classmethod
    def of(
        cls, folder: TaskFolder, write_id: str, arrangement: Arrangement, schema: "StructType"
    ) -> "PartFiles":
        """Return the files of a table of these columns."""
        import pyspark

        about = {
            "org.apache.spark.version": pyspark.__version__,
            "org.apache.spark.sql.parquet.row.metadata": schema.json(),
        }
        return cls(folder, write_id, arrangement, schema, about)

    def write(self, number: int, batches: "Iterable[pa.RecordBatch]") -> Part:
        """Write the messages of one part.

        Without messages there is no file, but for the first part: an empty table has its columns.
        """
        import pyarrow.compute as pc

        rows = size = bad = 0
        first = last = None
        with _Files(self, number) as files:
            for batch in batches:
                if len(batch):
                    sequences, payloads = batch["sequence"], batch["data"]
                    first = sequences[0].as_py() if first is None else first
                    last = sequences[-1].as_py()
                    rows += len(batch)
                    size += pc.sum(pc.binary_length(payloads)).as_py()
                    arranged = self.arrangement.arrange(batch)
                    if self.arrangement.payload:
                        column = arranged[BAD_PAYLOAD]
                        bad += len(column) - column.null_count
                    files.add(arranged, batch.nbytes)
            files.finish(is_first=not number)
        return Part(files.written, rows, first, last, size, bad)


class _Files:
    """The files of a part: one, or one a partition, and again so many whenever the memory for them is full.

    Rows of a partition are together, so that one file is open at a time, as Spark does it.
    """

    def __init__(self, table: PartFiles, number: int) -> None:
        import pyarrow as pa

        self.written: list[str] = []
        self._table = table
        self._number = number
        arrow = table.arrangement.build_arrow_schema()
        self._schema = pa.schema([arrow.field(name) for name in table.schema.names])
        self._batches: list[pa.RecordBatch] = []  #: not split yet
        self._rows = 0  #: in these
        self._partitions: dict[str, list[pa.RecordBatch]] = {}
        self._size = 0
        self._rounds = 0
        self._group: _RowGroups | None = None
        layout = table.arrangement.layout
        self._is_ordered = bool(layout.partition_by or layout.order)
        self._options = layout.parquet_options

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        if self._group:
            self._group.__exit__(*error)

    def add(self, rows: "pa.RecordBatch", size: int) -> None:
        """Add rows. size: bytes that their messages take."""
        if not self._is_ordered:
            self._open_only_file().add(rows.select(self._schema.names))
            return
        self._batches.append(rows)
        self._rows += len(rows)
        self._size += size
        if self._rows >= SPLIT * len(self._partitions):
            self._split()
        if self._size >= PARTITIONED:
            self._write_partitions()

    def finish(self, *, is_first: bool) -> None:
        """Write what is left. is_first: also a file without rows, if there is nothing."""
        if self._batches or self._partitions:
            self._write_partitions()
        is_missing = is_first and not self.written and not self._table.arrangement.layout.partition_by
        if self._group or is_missing:
            self._open_only_file().finish()

    def _open_only_file(self) -> "_RowGroups":
        if self._group is None:
            self._group = self._open("", 0)
        return self._group

    def _split(self) -> None:
        """Split what is not yet, so that the memory of it is free before more comes."""
        import pyarrow as pa

        for rows in pa.Table.from_batches(self._batches).combine_chunks().to_batches():
            for partition, part in self._table.arrangement.split(rows):
                self._partitions.setdefault(partition, []).append(part)
        self._batches.clear()
        self._rows = 0

    def _write_partitions(self) -> None:
        import pyarrow as pa

        if self._batches:
            self._split()
        count = self._rounds
        self._rounds += 1
        for partition, batches in self._partitions.items():
            rows = self._table.arrangement.sort(pa.Table.from_batches(batches))
            with self._open(partition, count) as group:
                group.write(rows.select(self._schema.names))
                group.finish()
        self._partitions.clear()
        self._size = 0

    def _open(self, partition: str, count: int) -> "_RowGroups":
        """Open a file. partition: its folder, empty for none. count: of files before it."""
        sign = "." if partition else "-"
        end = f"{self._options['compression']}.parquet"
        file = f"part-{self._number:05}-{self._table.write_id}{sign}c{count:03}.{end}"
        name = f"{partition}/{file}" if partition else file
        self.written.append(name)
        return _RowGroups(self._table.folder, name, self._schema, self._table.about, self._options)


_ALL_DIFFERENT = ("sequence", "timestamp")
"""Columns whose values are all different: a dictionary of them would be as long as they are."""


def _list_leaves(name: str, type: "pa.DataType") -> Iterator[str]:
    """Yield the paths of a column's leaves in a Parquet file."""
    import pyarrow as pa

    if pa.types.is_struct(type):
        for field in type:
            yield from _list_leaves(f"{name}.{field.name}", field.type)
    elif pa.types.is_map(type):
        yield from _list_leaves(f"{name}.key_value.key", type.key_type)
        yield from _list_leaves(f"{name}.key_value.value", type.item_type)
    elif pa.types.is_list(type):
        yield from _list_leaves(f"{name}.list.element", type.value_type)
    else:
        yield name


class _RowGroups:
    """A Parquet file, written in groups of as many messages as may be in memory. Every method raises
    JsctlError when it cannot be written."""

    def __init__(
        self,
        folder: TaskFolder,
        name: str,
        schema: "pa.Schema",
        about: Mapping[str, str],
        options: Mapping[str, Any],
    ) -> None:
        self._folder = folder
        self._name = name
        self._schema = schema
        self._about = about
        self._options = options
        self._batches: list[pa.RecordBatch] = []
        self._size = 0
        self._stack = contextlib.ExitStack()
        self._writer: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        with name_in_errors(self._folder.target):
            self._stack.__exit__(*error)

    def add(self, messages: "pa.RecordBatch") -> None:
        self._batches.append(messages)
        self._size += messages.nbytes
        if self._size >= ROW_GROUP:
            self._write()

    def write(self, rows: "pa.Table") -> None:
        """Write a group of its own."""
        with name_in_errors(self._folder.target):
            if self._writer is None:
                self._writer = self._open()
            self._writer.write_table(rows)

    def finish(self) -> None:
        """Write what is left, and complete the file. One without messages has its columns."""
        if self._batches or self._writer is None:
            self._write()
        with name_in_errors(self._folder.target):
            self._stack.close()

    def _write(self) -> None:
        import pyarrow as pa

        self.write(pa.Table.from_batches(self._batches, self._schema))
        self._batches.clear()
        self._size = 0

    def _open(self) -> Any:
        from pyarrow import parquet

        file = self._stack.enter_context(self._folder.create(self._name))
        writer = parquet.ParquetWriter(
            file,
            self._schema,
            # As in Spark's files: no dictionary of values that are all different.
            use_dictionary=[
                path
                for field in self._schema
                if field.name not in _ALL_DIFFERENT
                for path in _list_leaves(field.name, field.type)
            ],
            **self._options,
        )
        writer.add_key_value_metadata(self._about)
        return self._stack.enter_context(writer)
