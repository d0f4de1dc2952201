"""Where Spark looks for data sources: top-level modules called `pyspark_*`, with a `DefaultSource`.

The wheel puts this file beside the package. Where executors lack that,
`jsctl.spark.session.sealed_options.connect` sends it.
"""

from jsctl.spark.source.batch import JetStreamSource as DefaultSource

__all__ = ["DefaultSource"]
