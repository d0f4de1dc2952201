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
from jsctl.spark.source.direct import DirectReader, MirrorAnswered
from jsctl.spark.source.failures import without_traceback
from jsctl.spark.source.options import ReadOptions
from jsctl.spark.source.pull import ConsumerReader
from jsctl.spark.source.reader import RangeReader, ReadJob
from jsctl.spark.source.replies import payload_size

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS, BATCH_BYTES = 8192, 4 << 20
"""How much goes into one Arrow batch: whichever is reached first."""


class RangePartition(InputPartition):
    """A task's part. direct: by batch direct get, else through a consumer. settings: the connection's, when
    they are not the reader's."""

    def __init__(self, job: ReadJob, direct: bool, settings: Settings | None = None) -> None:
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

    @without_traceback
    def partitions(self) -> list[RangePartition]:
        def work(connection: StreamConnection) -> list[RangePartition]:
            stream = plan.fetch_stream(connection, self.options)
            start, end = plan.resolve_range(connection, self.options, stream)
            found = plan_partitions(self.options, stream.created, start, end, stream.direct)
            # For no partitions at all Spark makes one of its own, with nothing in it.
            nothing = plan.read_job(self.options, stream.created, start, start)
            return found or [RangePartition(nothing, stream.direct)]

        return plan.with_connection(self.options, work)

    def read(self, partition: InputPartition) -> "Iterator[pa.RecordBatch]":
        assert isinstance(partition, RangePartition)
        return read_partition(self.options, partition)


def plan_partitions(
    options: ReadOptions, created: str, start: int, end: int, direct: bool
) -> list[RangePartition]:
    """[start, end) as parts for tasks."""
    count = ranges.count_ranges(end - start, options.min_partitions, os.cpu_count() or 1)
    found = ranges.split_range(start, end, count)
    settings = None
    if not options.settings.files:
        # The reader of a streaming query outlives what files say: each batch takes along what they say now.
        settings = asyncio.run(login.with_files(options.settings))
    return [
        RangePartition(plan.read_job(options, created, first, last), direct, settings)
        for first, last in found
    ]


def read_partition(options: ReadOptions, part: RangePartition) -> "Iterator[pa.RecordBatch]":
    """A part's messages. Raises what RangeReader raises."""
    provide_pynacl()
    stream = options.stream
    waiting: list[pa.RecordBatch] = []
    rows = taken = 0
    for chunk in _chunks(options, part):
        waiting.append(chunk)
        rows += len(chunk)
        taken += payload_size(chunk)
        if rows >= BATCH_ROWS or taken >= BATCH_BYTES:
            yield columns.to_spark_batch(stream, waiting, options.headers)
            waiting, rows, taken = [], 0, 0
    if waiting:
        yield columns.to_spark_batch(stream, waiting, options.headers)


def _chunks(options: ReadOptions, part: RangePartition) -> "Iterator[pa.RecordBatch]":
    def connect() -> StreamConnection:
        return StreamConnection.open(part.settings or options.settings)

    reader: RangeReader = (DirectReader if part.direct else ConsumerReader)(part.job, connect)
    try:
        yield from reader
    except MirrorAnswered as error:
        if options.fetch_mode == "direct":
            raise error.with_traceback(None) from None
        yield from ConsumerReader(part.job._replace(start=reader.at), connect)
    except JsctlError as error:  # as `without_traceback` does
        raise error.with_traceback(None) from None


def spark_schema(options: ReadOptions) -> StructType:
    """The schema that `jsctl.spark.source.columns` describes."""
    fields: dict[str, DataType] = {
        "stream": StringType(), "subject": StringType(), "sequence": LongType(), "timestamp": TimestampType(),
        "data": BinaryType(),
    }  # fmt: skip
    if options.headers:
        pair = [StructField("key", StringType()), StructField("value", BinaryType())]
        fields["headers"] = ArrayType(StructType(pair))
    return StructType([StructField(name, type) for name, type in fields.items()])


def validate_schema(schema: StructType, options: ReadOptions) -> None:
    """Raise BadInput when a schema was given that is not ours."""
    ours = spark_schema(options).simpleString()
    if schema.simpleString() != ours:
        raise BadInput("the schema of a stream is fixed", f"leave it out: it is {ours}")
