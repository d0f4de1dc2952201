"""Read a short range of a stream in this process, for a Spark that runs beside it.

Spark would start three Pythons for it, one after the other: to make the data source, to plan, and to read. A
short range is read while Spark starts, and handed over as one Arrow table.
"""

from typing import TYPE_CHECKING

from jsctl.spark.export.stream_plan import ReadPlan
from jsctl.spark.source import columns
from jsctl.spark.source import plan as source_plan
from jsctl.spark.source.batch_reader import plan_partitions, read_partition
from jsctl.spark.source.options import ReadOptions

if TYPE_CHECKING:
    import pyarrow as pa

MOST_MESSAGES = 20_000
MOST_BYTES = 32 << 20
"""Of payloads and headers. Beyond either, Spark's tasks read, in batches."""


def is_small(read_plan: ReadPlan) -> bool:
    """Whether a range is expected to fit into memory several times."""
    return read_plan.messages <= MOST_MESSAGES and read_plan.bytes <= MOST_BYTES


def read(options: ReadOptions, read_plan: ReadPlan) -> "pa.Table | None":
    """Return the messages of a range in the columns of the data source, None when they are more than
    expected.

    Raises what a task raises that reads them.
    """
    import pyarrow as pa

    batches: list[pa.RecordBatch] = []
    if read_plan.start < read_plan.end:
        stream = source_plan.with_connection(
            options, lambda connection: source_plan.fetch_stream(connection, options)
        )
        size = 0
        for partition in plan_partitions(
            options, read_plan.created, read_plan.start, read_plan.end, stream.direct
        ):
            for batch in read_partition(options, partition):
                batches.append(batch)
                size += batch.nbytes
                if size > MOST_BYTES:
                    return None
    return pa.Table.from_batches(batches, columns.schema(options.headers))
