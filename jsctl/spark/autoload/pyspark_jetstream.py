"""Where Spark looks for data sources: top-level modules called `pyspark_*`, with a `DefaultSource`.

The wheel puts this file beside the package; with addPyFile, register `DefaultSource` yourself:
`spark.dataSource.register(DefaultSource)`.
"""

from jsctl.spark.source import JetStreamSource as DefaultSource

__all__ = ["DefaultSource"]
