"""Batch queries, `spark.read.format("jetstream")`: a range of a stream as a table."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

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
from jsctl.nats import from_sync, login
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
"""Size of one Arrow batch, whichever is reached first."""


class RangePartition(InputPartition):
    """What one task reads. direct: by batch direct get, else through a consumer. settings: of the connection,
    when they are not those of the reader's options."""

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
            partitions = plan_partitions(self.options, stream.created, start, end, stream.direct)
            # Without partitions, Spark would create one that is not a RangePartition.
            empty_job = plan.create_read_job(self.options, stream.created, start, start)
            return partitions or [RangePartition(empty_job, stream.direct)]

        return plan.with_connection(self.options, work)

    def read(self, partition: InputPartition) -> "Iterator[pa.RecordBatch]":
        return read_partition(self.options, cast(RangePartition, partition))


def plan_partitions(
    options: ReadOptions, created: str, start: int, end: int, direct: bool
) -> list[RangePartition]:
    """Split [start, end) into partitions, one for each task."""
    count = ranges.count_ranges(end - start, options.min_partitions, os.cpu_count() or 1)
    parts = ranges.split_range(start, end, count)
    settings = None
    if not options.settings.files:
        # Files may change while a streaming query runs: each batch reads them again.
        settings = from_sync.run(login.with_files(options.settings))
    return [
        RangePartition(plan.create_read_job(options, created, first, last), direct, settings)
        for first, last in parts
    ]


def read_partition(options: ReadOptions, partition: RangePartition) -> "Iterator[pa.RecordBatch]":
    """Yield a partition's messages in batches of the Spark schema. Raises what RangeReader raises."""
    provide_pynacl()
    stream = options.stream
    pending: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in _read_batches(options, partition):
        pending.append(batch)
        rows += len(batch)
        size += payload_size(batch)
        if rows >= BATCH_ROWS or size >= BATCH_BYTES:
            yield columns.to_spark_batch(stream, pending, options.headers)
            pending, rows, size = [], 0, 0
    if pending:
        yield columns.to_spark_batch(stream, pending, options.headers)


def _read_batches(options: ReadOptions, partition: RangePartition) -> "Iterator[pa.RecordBatch]":
    def connect() -> StreamConnection:
        return StreamConnection.open(partition.settings or options.settings)

    reader: RangeReader = (DirectReader if partition.direct else ConsumerReader)(partition.job, connect)
    try:
        yield from reader
    except MirrorAnswered as error:
        if options.fetch_mode == "direct":
            raise error.with_traceback(None) from None
        yield from ConsumerReader(partition.job._replace(start=reader.at), connect)
    except JsctlError as error:  # as `without_traceback` does
        raise error.with_traceback(None) from None


def spark_schema(options: ReadOptions) -> StructType:
    """Return the schema that `jsctl.spark.source.columns` describes."""
    fields: dict[str, DataType] = {
        "stream": StringType(),
        "subject": StringType(),
        "sequence": LongType(),
        "timestamp": TimestampType(),
        "data": BinaryType(),
    }
    if options.headers:
        pair = [StructField("key", StringType()), StructField("value", BinaryType())]
        fields["headers"] = ArrayType(StructType(pair))
    return StructType([StructField(name, type) for name, type in fields.items()])


def validate_schema(schema: StructType, options: ReadOptions) -> None:
    """Raise BadInput when Spark was given another schema."""
    expected = spark_schema(options).simpleString()
    if schema.simpleString() != expected:
        raise BadInput("the schema of a stream is fixed", f"leave it out: it is {expected}")
