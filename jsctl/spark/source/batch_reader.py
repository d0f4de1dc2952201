"""`spark.read.format("jetstream")`: a stream as a table, on Spark's Python data sources."""

import asyncio
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput, JsctlError
from jsctl.nats import login
from jsctl.spark.session.task_archive import provide_pynacl
from jsctl.spark.source import columns, plan, ranges
from jsctl.spark.source.connection import StreamConnection
from jsctl.spark.source.direct import DirectReader, MirrorAnswers
from jsctl.spark.source.failures import plainly
from jsctl.spark.source.options import ReadOptions
from jsctl.spark.source.pull import ConsumerReader
from jsctl.spark.source.reader import Job, RangeReader
from jsctl.spark.source.replies import size

if TYPE_CHECKING:
    import pyarrow as pa

ROWS, BYTES = 8192, 4 << 20
"""How much goes into one Arrow batch: whichever is reached first."""


class Range(InputPartition):
    """A task's part. direct: by batch direct get, else through a consumer. settings: the connection's, when
    they are not the reader's."""

    def __init__(self, job: Job, direct: bool, settings: Settings | None = None) -> None:
        super().__init__(None)
        self.settings = settings
        self.job = job
        self.direct = direct

    def __repr__(self) -> str:
        return f"{self.job.stream}[{self.job.start}, {self.job.end})"


class JetStreamReader(DataSourceReader):
    """Plans on the driver, reads in tasks."""

    def __init__(self, options: ReadOptions) -> None:
        self.options = options

    @plainly
    def partitions(self) -> list[Range]:
        def work(connection: StreamConnection) -> list[Range]:
            stream = plan.look(connection, self.options)
            start, end = plan.resolve(connection, self.options, stream)
            found = split(self.options, stream.created, start, end, stream.direct)
            # For no partitions at all Spark makes one of its own, with nothing in it.
            nothing = plan.job(self.options, stream.created, start, start)
            return found or [Range(nothing, stream.direct)]

        return plan.ask(self.options, work)

    def read(self, partition: InputPartition) -> "Iterator[pa.RecordBatch]":
        assert isinstance(partition, Range)
        return read(self.options, partition)


def split(options: ReadOptions, created: str, start: int, end: int, direct: bool) -> list[Range]:
    """[start, end) as parts for tasks."""
    count = ranges.parts(end - start, options.min_partitions, os.cpu_count() or 1)
    found = ranges.split(start, end, count)
    settings = None
    if not options.settings.files:
        # The reader of a streaming query outlives what files say: each batch takes along what they say now.
        settings = asyncio.run(login.with_files(options.settings))
    return [Range(plan.job(options, created, first, last), direct, settings) for first, last in found]


def read(options: ReadOptions, part: Range) -> "Iterator[pa.RecordBatch]":
    """A part's messages. Raises what RangeReader raises."""
    provide_pynacl()
    stream = options.stream
    waiting: list[pa.RecordBatch] = []
    rows = taken = 0
    for chunk in _chunks(options, part):
        waiting.append(chunk)
        rows += len(chunk)
        taken += size(chunk)
        if rows >= ROWS or taken >= BYTES:
            yield columns.batch(stream, waiting, options.headers)
            waiting, rows, taken = [], 0, 0
    if waiting:
        yield columns.batch(stream, waiting, options.headers)


def _chunks(options: ReadOptions, part: Range) -> "Iterator[pa.RecordBatch]":
    def connect() -> StreamConnection:
        return StreamConnection.open(part.settings or options.settings)

    reader: RangeReader = (DirectReader if part.direct else ConsumerReader)(part.job, connect)
    try:
        yield from reader
    except MirrorAnswers as error:
        if options.fetch_mode == "direct":
            raise error.with_traceback(None) from None
        yield from ConsumerReader(part.job._replace(start=reader.at), connect)
    except JsctlError as error:  # as `plainly` does
        raise error.with_traceback(None) from None


def schema_of(options: ReadOptions) -> StructType:
    """The schema that `jsctl.spark.source.columns` describes."""
    fields: dict[str, DataType] = {
        "stream": StringType(), "subject": StringType(), "sequence": LongType(), "timestamp": TimestampType(),
        "data": BinaryType(),
    }  # fmt: skip
    if options.headers:
        pair = [StructField("key", StringType()), StructField("value", BinaryType())]
        fields["headers"] = ArrayType(StructType(pair))
    return StructType([StructField(name, type) for name, type in fields.items()])


def check_schema(schema: StructType, options: ReadOptions) -> None:
    """Raise BadInput when a schema was given that is not ours."""
    ours = schema_of(options).simpleString()
    if schema.simpleString() != ours:
        raise BadInput("the schema of a stream is fixed", f"leave it out: it is {ours}")
