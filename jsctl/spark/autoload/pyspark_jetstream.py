"""The module in which Spark finds the data source: it looks for a `DefaultSource` in top-level modules called
`pyspark_*`.

The wheel installs this file beside the package. Executors without the package receive it through
`jsctl.spark.connect`.
"""

from jsctl.spark.datasource.data_source import JetStreamSource as DefaultSource

__all__ = ["DefaultSource"]
