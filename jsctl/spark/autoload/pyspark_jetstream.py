"""Where Spark looks for data sources: top-level modules called `pyspark_*`, with a `DefaultSource`.

The wheel puts this file beside the package. Executors that lack the package get it from
`jsctl.spark.connect`.
"""

from jsctl.spark.datasource.data_source import JetStreamSource as DefaultSource

__all__ = ["DefaultSource"]
