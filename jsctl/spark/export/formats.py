"""The formats of a table: those that every Spark has, and those that have to be installed."""

import re
from typing import TYPE_CHECKING

from jsctl.errors import BadInput

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BUILT_IN = ("parquet", "json", "csv", "orc", "xml")

_PACKAGES = {
    "avro": "org.apache.spark:spark-avro_2.13:{version}",
    "delta": "io.delta:delta-spark_2.13:VERSION",
    "iceberg": "org.apache.iceberg:iceberg-spark-runtime-{minor}_2.13:VERSION",
}
_NO_TABLES = {
    "text": "it has room for one column",
    "binaryfile": "Spark only reads it",
    "noop": "it keeps nothing",
    "console": "it keeps nothing",
}


def named(format: str) -> str:
    """The name that we use for it. Raises BadInput for what is no format, or holds no table."""
    if not re.fullmatch(r"[\w.-]+", format):
        raise BadInput(f"--format {format!r} is no format", "such as parquet, json or csv")
    if why := _NO_TABLES.get(format.lower()):
        raise BadInput(f"--format {format} cannot hold messages: {why}", f"use {', '.join(BUILT_IN[:4])}")
    return format.lower() if format.lower() in (*BUILT_IN, *_PACKAGES) else format


def check(spark: "SparkSession", format: str) -> None:
    """Raise BadInput unless this Spark has the format."""
    if format in BUILT_IN:
        return
    try:
        spark.read.format(format).load("/nonexistent")
    except Exception as error:  # any other one, such as that nothing is there, is of a format that it knows
        if not re.search(r"\[\w*DATA_SOURCE_NOT_(FOUND|ENABLED)\]", str(error)):
            return
        others = "parquet, json, csv and orc are always there"
        if package := _PACKAGES.get(format):
            version = spark.version
            package = package.format(version=version, minor=".".join(version.split(".")[:2]))
            others = f"--conf spark.jars.packages={package} installs it, or use parquet, json, csv or orc"
        raise BadInput(f"this Spark has no format {format}", others) from None
