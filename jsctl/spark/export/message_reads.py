"""Reading a range of a stream for an export in the cheapest way.

To use a data source, Spark starts three Python processes before the first task, one after the other: to find
data sources, to create this one, and to plan. On this machine, that is avoided: this process plans, and
passes its part to each task. On other machines, Spark's tasks read through the data source.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from jsctl.base import loops
from jsctl.contexts.settings import Settings
from jsctl.nats import login
from jsctl.spark.datasource.registration import register
from jsctl.spark.export.layout import TableLayout
from jsctl.spark.export.stream_plan import ReadPlan, Selection, StreamSource, build_source_options
from jsctl.spark.session.cluster import runs_elsewhere
from jsctl.spark.session.read_counter import ReadCounter
from jsctl.spark.source.newest_schema import find_newest_schema
from jsctl.spark.source.options import ReadOptions, parse_read_options

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from jsctl.spark.source.batch_reader import JetStreamReader


@dataclass(frozen=True, slots=True)
class MessageReads:
    """Reads of messages of streams for tables. counter: counts what tasks read, if they are on this
    machine."""

    selection: Selection
    layout: TableLayout
    counter: ReadCounter | None = None

    def build_options(self, source: StreamSource) -> ReadOptions:
        """Return the options of the source as they are, without a range."""
        return parse_read_options(build_source_options(source, self.selection), settings=source.settings)

    def build_frame(
        self,
        spark: "SparkSession",
        source: StreamSource,
        start: int,
        end: int,
        read_plan: ReadPlan | None = None,
        *,
        lenient: bool = False,
    ) -> "DataFrame":
        """Return the messages of [start, end) as the data source gives them.

        lenient: do not fail for lost and deleted messages. Raises what planning raises.
        """
        reads = self
        if lenient:
            reads = replace(
                self, selection=replace(self.selection, fail_on_loss=False, fail_on_deleted=False)
            )
        options = reads._build_range_options(source, start, end, read_plan)
        is_lenient = lenient or not (read_plan is None or read_plan.is_promised)
        name = f"jetstream_{source.table}"
        return read_frame(spark, source.settings, name, options, lenient=is_lenient, counter=self.counter)

    def build_reader(self, source: StreamSource, read_plan: ReadPlan) -> "JetStreamReader":
        """Return the reader of a plan's messages in tasks of this machine."""
        options = self._build_range_options(source, read_plan.start, read_plan.end, read_plan)
        return create_reader(source.settings, options, lenient=not read_plan.is_promised)

    def _build_range_options(
        self, source: StreamSource, start: int, end: int, read_plan: ReadPlan | None
    ) -> dict[str, str]:
        options = build_source_options(source, self.selection)
        options |= {"startingOffsets": str(start), "endingOffsets": str(end)}
        if start == end:
            # An empty range, which is valid in an empty stream, too.
            options |= {"startingOffsets": "earliest", "endingOffsets": "earliest"}
        return options | self.layout.build_read_options(read_plan)


def read_frame(
    spark: "SparkSession",
    settings: Settings,
    name: str,
    options: Mapping[str, str],
    *,
    lenient: bool = False,
    counter: ReadCounter | None = None,
) -> "DataFrame":
    """Return what the data source reads with these options, in the cheapest way.

    name: of a data source that is registered for it, if it is needed. options: those of the data source,
    without the connection's. lenient: leave out sequences in the options that no longer exist. counter: of
    messages, for streams. Raises what planning raises.
    """
    if not runs_elsewhere(spark) and find_spec("pandas"):  # mapInArrow needs pandas
        return _read_in_tasks(spark, create_reader(settings, options, lenient=lenient), counter)
    register(spark, settings, name, lenient=lenient)
    return spark.read.format(name).options(**options).load()


def create_reader(
    settings: Settings, options: Mapping[str, str], *, lenient: bool = False
) -> "JetStreamReader":
    """Return the reader of these options; see `read_frame`."""
    from jsctl.spark.source.batch_reader import JetStreamReader

    portable = loops.run(login.with_files(settings))
    return JetStreamReader(
        parse_read_options(options, settings=portable, find_schema=find_newest_schema), lenient=lenient
    )


def _read_in_tasks(
    spark: "SparkSession", reader: "JetStreamReader", counter: ReadCounter | None
) -> "DataFrame":
    """Return what a reader reads, in a task for each of its partitions."""
    from jsctl.spark.source.batch_reader import build_spark_schema

    partitions = reader.partitions()

    def read(batches: "Iterator[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
        for batch in batches:
            for number in batch.column(0).to_pylist():
                rows = reader.read(partitions[number])
                yield from counter.follow(number, partitions[number].job.start, rows) if counter else rows

    numbers = spark.range(0, len(partitions), 1, len(partitions))
    return numbers.mapInArrow(read, build_spark_schema(reader.options))
