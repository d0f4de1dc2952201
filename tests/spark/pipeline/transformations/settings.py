"""Changes of the key-value bucket SETTINGS as a table, and the latest value of each key.

Where tables have MERGE, as those of Delta and Iceberg have, Auto CDC (Spark 4.3 or newer) does the second:

    dp.create_streaming_table("settings")
    dp.create_auto_cdc_flow(
        target="settings",
        source="changes",
        keys=["key"],
        sequence_by="revision",
        apply_as_deletes="operation <> 'put'",
    )
"""

import os

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

spark = SparkSession.active()


@dp.table
def changes() -> DataFrame:
    """Grow with the bucket."""
    options = {"servers": os.environ["NATS_URL"], "bucket": "SETTINGS", "startingOffsets": "earliest"}
    return spark.readStream.format("jetstream").options(**options).load()


@dp.materialized_view
def settings() -> DataFrame:
    """Keep what the last change of each key left."""
    last = F.max_by(F.struct("value", "operation", "revision"), "revision").alias("last")
    rows = spark.read.table("changes").groupBy("key").agg(last)
    return rows.where("last.operation = 'put'").select("key", "last.value", "last.revision")
