"""Parquet files of messages as they are, like those that Spark writes."""

import contextlib
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from jsctl.errors import JsctlError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

    from jsctl.spark.source.options import ReadOptions

ROW_GROUP = 32 << 20
"""Bytes of messages that are in memory before they are written."""

_ORDER = ("stream", "subject", "sequence", "timestamp", "headers", "data")
"""Of the columns in a table."""


class Part(NamedTuple):
    """A part of a table. file: None without rows. first, last: sequences, None without rows. bytes: of
    payload."""

    file: Path | None
    rows: int
    first: int | None
    last: int | None
    bytes: int


def build_schema(options: "ReadOptions") -> "StructType":
    """Return the columns of a table of messages in their order."""
    from pyspark.sql.types import StructType

    from jsctl.spark.source.batch_reader import build_spark_schema

    fields = build_spark_schema(options)
    return StructType([fields[name] for name in _ORDER if name in fields.names])


@dataclass(frozen=True, slots=True)
class PartFiles:
    """Files of parts in a folder. names: of the columns. about: the files' own metadata."""

    folder: Path
    names: Sequence[str]
    about: Mapping[str, str]

    @classmethod
    def of(cls, options: "ReadOptions", folder: Path) -> "PartFiles":
        """Return the files of what is read with these options."""
        import pyspark

        schema = build_schema(options)
        about = {
            "org.apache.spark.version": pyspark.__version__,
            "org.apache.spark.sql.parquet.row.metadata": schema.json(),
        }
        return cls(folder, schema.names, about)

    def write(self, number: int, batches: "Iterable[pa.RecordBatch]") -> Part:
        """Write the messages of one part to a hidden file of this attempt.

        Without messages there is no file, but for the first part: an empty table has its columns.
        """
        import pyarrow.compute as pc

        from jsctl.spark.source import columns

        rows = size = 0
        first = last = None
        file = self.folder / f".part-{number:05}-{uuid.uuid4()}.parquet"
        with _RowGroups(file, columns.build_schema(self.names), self.about) as groups:
            for batch in batches:
                if len(batch):
                    messages = batch.select(self.names)
                    sequences, payloads = messages["sequence"], messages["data"]
                    first = sequences[0].as_py() if first is None else first
                    last = sequences[-1].as_py()
                    rows += len(batch)
                    size += pc.sum(pc.binary_length(payloads)).as_py()
                    groups.add(messages)
            if rows or not number:
                groups.finish()
        return Part(file if rows or not number else None, rows, first, last, size)


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
        with self._name_target_in_errors():
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
        with self._name_target_in_errors():
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
    def _name_target_in_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            target = str(self._path).partition("/.staging/")[0]
            raise JsctlError(f"Spark cannot write to {target}: {error.strerror or error}") from None
