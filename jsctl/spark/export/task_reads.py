"""Read a stream in tasks of a Spark on this machine, without its data source.

For a data source Spark starts three Pythons before the first task, one after the other: to look for data
sources, to make this one, and to plan. Here the plan is made in this process, and tasks get their part of it.
"""

from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

from jsctl.spark.session.cluster import runs_elsewhere
from jsctl.spark.source.batch_reader import JetStreamReader, spark_schema
from jsctl.spark.source.options import ReadOptions

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession


def is_possible(spark: "SparkSession") -> bool:
    """Whether tasks run on this machine, with what PySpark needs for Arrow tasks."""
    return not runs_elsewhere(spark) and find_spec("pandas") is not None


def read(spark: "SparkSession", options: ReadOptions) -> "DataFrame":
    """Return the messages that the options name, as the data source does. Raises what its planning raises."""
    reader = JetStreamReader(options)
    partitions = reader.partitions()

    def read_partitions(batches: "Iterator[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from reader.read(partitions[number])

    numbers = spark.range(0, len(partitions), 1, len(partitions))
    return numbers.mapInArrow(read_partitions, spark_schema(options))
