"""Orders of the stream ORDERS as a table, their totals, and large orders in the stream LARGE."""

import os

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

spark = SparkSession.active()
connection = {"servers": os.environ["NATS_URL"]}

dp.create_sink("large_orders", "jetstream", {**connection, "stream": "LARGE"})


@dp.table
def orders() -> DataFrame:
    """Grow with the stream."""
    messages = spark.readStream.format("jetstream").options(**connection, stream="ORDERS")
    order = F.from_json(F.col("data").cast("string"), "id INT, country STRING, price DOUBLE")
    return (
        messages.option("startingOffsets", "earliest").load().select("stream", "sequence", order.alias("o"))
    )


@dp.materialized_view
def totals() -> DataFrame:
    """Count anew in every run."""
    by_country = spark.read.table("orders").groupBy("o.country")
    return by_country.agg(F.count("*").alias("orders"), F.sum("o.price").alias("price"))


@dp.append_flow(target="large_orders")
def large() -> DataFrame:
    """Message ids are made from `stream` and `sequence`, so that nothing is stored twice."""
    columns = {
        "subject": F.concat(F.lit("large."), F.col("o.country")),
        "data": F.to_json("o"),
        "stream": F.col("stream"),
        "sequence": F.col("sequence"),
    }
    rows = spark.readStream.table("orders").where("o.price >= 100")
    return rows.select(*(column.alias(name) for name, column in columns.items()))
