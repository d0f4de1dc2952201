"""The context of a session: what is below its queries, in this process."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def find_context(spark: "SparkSession") -> Any:
    """Return a session's SparkContext; None with Spark Connect, whose sessions have none."""
    return getattr(spark, "sparkContext", None)
