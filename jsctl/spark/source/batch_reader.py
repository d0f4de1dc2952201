"""Batch queries, `spark.read.format("jetstream")`: a range of a stream as a table."""

import itertools
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import StructField, StructType

from jsctl.base import loops
from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput, JsctlError
from jsctl.nats import login
from jsctl.nats.addresses import ServerAddress
from jsctl.spark.session.task_archive import provide_pynacl
from jsctl.spark.source import buckets, columns, messages, plan, stream_names
from jsctl.spark.source.connection import Connector, StreamConnection
from jsctl.spark.source.direct import DirectReader, MirrorAnswered
from jsctl.spark.source.failures import without_traceback
from jsctl.spark.source.options import ReadOptions
from jsctl.spark.source.planning import PlanningConnection, with_connection
from jsctl.spark.source.pull import ConsumerReader
from jsctl.spark.source.range_reader import RangeReader, ReadJob
from jsctl.spark.source.replies import measure_whole

if TYPE_CHECKING:
    import pyarrow as pa

_ARE_KNOWN = frozenset(("stream", "sequence"))
"""Columns that are known without reading, unless subjects are filtered."""

BATCH_ROWS, BATCH_BYTES = 8192, 4 << 20
"""Size of one Arrow batch, whichever is reached first."""


_ROUNDS = 10
"""How often `latest` reads further revisions of keys that change all the time."""


@dataclass(eq=False)
class RangePartition(InputPartition):
    """The part that one task reads. direct: by batch direct get, else through a consumer. settings: of the
    connection, if they differ from the reader's options. addresses: of servers that other servers announced.
    deleted: the sequences without a message if only sequences are read, so that no request is needed; else
    None."""

    job: ReadJob
    direct: bool
    settings: Settings | None = None
    addresses: Sequence[ServerAddress] = ()
    deleted: Sequence[int] | None = None

    def __repr__(self) -> str:
        return f"{self.job.stream}[{self.job.start}, {self.job.end})"


class JetStreamReader(DataSourceReader):
    """A reader that plans on the driver and reads in tasks. lenient: leave out sequences in the options that
    no longer exist.

    It takes no filters of a query: Spark has one reader for all uses of a relation, and `pushFilters` of one
    use would leave rows out of the others (Spark 4.3: PythonDataSourceV2 keeps the last scan's plan).
    """

    def __init__(self, options: ReadOptions, *, lenient: bool = False) -> None:
        self.options = options
        self.lenient = lenient

    @without_traceback
    def partitions(self) -> list[RangePartition]:
        planning = PlanningConnection(self.options)

        def work(connection: StreamConnection) -> list[RangePartition]:
            names = stream_names.list_existing_stream_names(connection, self.options)
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
        options = self.options.select_stream(name)
        stream = plan.fetch_stream(connection, options)
        start, end = plan.resolve_range(connection, options, stream, lenient=self.lenient)
        is_promised = not self.lenient and plan.is_promised(options, stream, start)
        job = plan.create_read_job(options, stream.created, start, end, is_promised=is_promised)
        if _ARE_KNOWN.issuperset(options.columns) and not options.subjects:
            deleted = plan.fetch_deleted(connection, options, stream)
            if deleted is not None:
                return [RangePartition(job, stream.direct, deleted=[n for n in deleted if start <= n < end])]
        return plan_partitions(options, job, stream.direct, planning.addresses)

    def read(self, partition: InputPartition) -> "Iterator[pa.RecordBatch]":
        yield from read_partition(self.options, cast(RangePartition, partition))


def plan_partitions(
    options: ReadOptions, job: ReadJob, direct: bool, addresses: Sequence[ServerAddress]
) -> list[RangePartition]:
    """Split a job into partitions, one for each task; an empty one is one partition."""
    count = count_ranges(job.end - job.start, options.min_partitions, os.cpu_count() or 1)
    if options.latest:
        count = 1  # a task needs all revisions of a key to find the last
    parts = split_range(job.start, job.end, count) or [(job.start, job.start)]
    settings = None
    if not options.settings.files:
        # Files may change while a streaming query runs: each batch reads them again.
        settings = loops.run(login.with_files(options.settings))
    return [
        RangePartition(job._replace(start=first, end=last), direct, settings, addresses)
        for first, last in parts
    ]


def split_range(start: int, end: int, count: int) -> list[tuple[int, int]]:
    """Split [start, end) into at most `count` ranges of nearly the same length, none of them empty."""
    total = max(0, end - start)
    count = min(count, total)
    edges = [start + total * number // count for number in range(count + 1)] if count else []
    return list(itertools.pairwise(edges))


def count_ranges(total: int, least: int, cores: int) -> int:
    """Return how many ranges to read `total` sequences in: one for each core, fewer for few messages, and at
    least `least`."""
    return max(least, min(cores, total // 10_000), 1)


def read_partition(options: ReadOptions, partition: RangePartition) -> "Iterator[pa.RecordBatch]":
    """Yield a partition's messages in batches of the Spark schema. Raises what RangeReader raises."""
    provide_pynacl()
    if options.latest:
        yield from buckets.select_latest(_read_until_quiet(options, partition), options.columns[1])
    else:
        yield from _read_rows(options, partition)


def _read_until_quiet(options: ReadOptions, partition: RangePartition) -> "Iterator[pa.RecordBatch]":
    """Yield a partition's messages, and those that superseded some of them during the read."""
    for _ in range(_ROUNDS):
        yield from _read_rows(options, partition)
        portable = replace(options, settings=partition.settings or options.settings)
        stream = with_connection(
            portable,
            lambda connection: plan.fetch_stream(connection, portable),  # noqa: B023
            is_known=True,
        )
        job = partition.job
        if stream.end <= job.end or stream.created != job.created:
            return
        job = job._replace(start=job.end, end=stream.end)
        partition = replace(partition, job=job)


def _read_rows(options: ReadOptions, partition: RangePartition) -> "Iterator[pa.RecordBatch]":
    stream, names = partition.job.stream, options.columns
    if partition.deleted is not None:
        yield from _build_known_rows(partition.job, names, partition.deleted)
        return
    pending: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in _read_batches(options, partition):
        pending.append(batch)
        rows += len(batch)
        size += measure_whole(batch)
        if rows >= BATCH_ROWS or size >= BATCH_BYTES:
            yield columns.to_spark_batch(stream, pending, names, options.payload, options.rows)
            pending, rows, size = [], 0, 0
    if pending:
        yield columns.to_spark_batch(stream, pending, names, options.payload, options.rows)


def _build_known_rows(
    job: ReadJob, names: Sequence[str], deleted: Sequence[int]
) -> "Iterator[pa.RecordBatch]":
    """Yield the sequences of a range, which are known without reading."""
    missing = set(deleted)
    for first in range(job.start, job.end, BATCH_ROWS):
        last = min(first + BATCH_ROWS, job.end)
        yield columns.build_sequence_batch(
            job.stream,
            [n for n in range(first, last) if n not in missing] if missing else range(first, last),
            names,
        )


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


def build_spark_schema(options: ReadOptions) -> StructType:
    """Return the schema that `jsctl.spark.source.columns` describes."""
    of_payloads = {field.name: field for field in options.payload.schema.fields} if options.payload else {}
    return StructType(
        [
            of_payloads.get(name) or StructField(name, from_arrow_type(messages.find_type(name)))
            for name in options.columns
        ]
    )


def validate_schema(schema: StructType, options: ReadOptions) -> None:
    """Raise BadInput when Spark has another schema."""
    expected = build_spark_schema(options).simpleString()
    if schema.simpleString() != expected:
        raise BadInput(
            "the schema of a stream is fixed",
            f"leave out the schema, or select columns with the option columns; the schema is {expected}",
        )
