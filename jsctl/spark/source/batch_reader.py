"""Batch queries, `spark.read.format("jetstream")`: a range of a stream as a table."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
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
from jsctl.nats.addresses import ServerAddress
from jsctl.spark.session.task_archive import provide_pynacl
from jsctl.spark.source import columns, plan, ranges
from jsctl.spark.source.connection import Connector, StreamConnection
from jsctl.spark.source.direct import DirectReader, MirrorAnswered
from jsctl.spark.source.failures import without_traceback
from jsctl.spark.source.options import ReadOptions
from jsctl.spark.source.planning import PlanningConnection
from jsctl.spark.source.pull import ConsumerReader
from jsctl.spark.source.reader import RangeReader, ReadJob
from jsctl.spark.source.replies import payload_size

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS, BATCH_BYTES = 8192, 4 << 20
"""Size of one Arrow batch, whichever is reached first."""


class RangePartition(InputPartition):
    """What one task reads. direct: by batch direct get, else through a consumer. settings: of the connection,
    when they are not those of the reader's options. addresses: of servers that others named."""

    def __init__(
        self,
        job: ReadJob,
        direct: bool,
        settings: Settings | None = None,
        addresses: Sequence[ServerAddress] = (),
    ) -> None:
        super().__init__(None)
        self.settings = settings
        self.addresses = addresses
        self.job = job
        self.direct = direct

    def __repr__(self) -> str:
        return f"{self.job.stream}[{self.job.start}, {self.job.end})"


class JetStreamReader(DataSourceReader):
    """Plans on the driver, reads in tasks. lenient: sequences in the options that are gone are left out."""

    def __init__(self, options: ReadOptions, *, lenient: bool = False) -> None:
        self.options = options
        self.lenient = lenient

    @without_traceback
    def partitions(self) -> list[RangePartition]:
        planning = PlanningConnection(self.options)

        def work(connection: StreamConnection) -> list[RangePartition]:
            names = plan.existing_stream_names(connection, self.options)
            return [part for name in names for part in self._plan(connection, planning, name)]

        try:
            partitions = planning.run(work)
        finally:
            planning.close()
        # Without partitions, Spark would create one that is not a RangePartition.
        return [part for part in partitions if part.job.start < part.job.end] or partitions[:1]

    def _plan(
        self, connection: StreamConnection, planning: PlanningConnection, name: str
    ) -> list[RangePartition]:
        options = replace(self.options, stream=name, streams=())
        stream = plan.fetch_stream(connection, options)
        start, end = plan.resolve_range(connection, options, stream, lenient=self.lenient)
        is_promised = not self.lenient and plan.is_promised(options, stream, start)
        job = plan.create_read_job(options, stream.created, start, end, is_promised=is_promised)
        return plan_partitions(options, job, stream.direct, planning.addresses)

    def read(self, partition: InputPartition) -> "Iterator[pa.RecordBatch]":
        return read_partition(self.options, cast(RangePartition, partition))


def plan_partitions(
    options: ReadOptions, job: ReadJob, direct: bool, addresses: Sequence[ServerAddress] = ()
) -> list[RangePartition]:
    """Split a job into partitions, one for each task; an empty one is one partition."""
    count = ranges.count_ranges(job.end - job.start, options.min_partitions, os.cpu_count() or 1)
    parts = ranges.split_range(job.start, job.end, count) or [(job.start, job.start)]
    settings = None
    if not options.settings.files:
        # Files may change while a streaming query runs: each batch reads them again.
        settings = from_sync.run(login.with_files(options.settings))
    return [
        RangePartition(job._replace(start=first, end=last), direct, settings, addresses)
        for first, last in parts
    ]


def read_partition(options: ReadOptions, partition: RangePartition) -> "Iterator[pa.RecordBatch]":
    """Yield a partition's messages in batches of the Spark schema. Raises what RangeReader raises."""
    provide_pynacl()
    stream, names = partition.job.stream, options.columns
    pending: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in _read_batches(options, partition):
        pending.append(batch)
        rows += len(batch)
        size += payload_size(batch)
        if rows >= BATCH_ROWS or size >= BATCH_BYTES:
            yield columns.to_spark_batch(stream, pending, names)
            pending, rows, size = [], 0, 0
    if pending:
        yield columns.to_spark_batch(stream, pending, names)


def _read_batches(options: ReadOptions, partition: RangePartition) -> "Iterator[pa.RecordBatch]":
    connect = Connector(partition.settings or options.settings, partition.addresses).open
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
    pair = [StructField("key", StringType()), StructField("value", BinaryType())]
    types: dict[str, DataType] = {
        "stream": StringType(),
        "subject": StringType(),
        "sequence": LongType(),
        "timestamp": TimestampType(),
        "data": BinaryType(),
        "headers": ArrayType(StructType(pair)),
    }
    return StructType([StructField(name, types[name]) for name in options.columns])


def validate_schema(schema: StructType, options: ReadOptions) -> None:
    """Raise BadInput when Spark was given another schema."""
    expected = spark_schema(options).simpleString()
    if schema.simpleString() != expected:
        raise BadInput(
            "the schema of a stream is fixed",
            f"leave it out, or name some of its columns with the option columns: it is {expected}",
        )
