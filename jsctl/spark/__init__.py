"""JetStream streams and reports in Spark. Notebooks need `connect` and the format `jetstream`."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def connect(spark: "SparkSession", **options: str) -> None:
    """Make `jetstream` of this session read and write with these connection options, such as context="prod".

    Reads and writes must not give them again. On a cluster the executors get jsctl with it.

    Raises BadInput, NotFound.
    """
    from jsctl.spark.datasource import registration  # every other import of this package needs no PySpark

    registration.connect(spark, **options)
