"""The formats of a table: built-in ones, those that have to be installed, and Spark's options for them."""

import re
from typing import TYPE_CHECKING

from jsctl.errors import BadInput
from jsctl.spark.session.packages import FORMAT_PACKAGES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Spark's default pattern keeps only milliseconds.
_TIMESTAMPS = {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"}
_CSV = {
    "header": "true",
    "escape": '"',
    "multiLine": "true",
    # Otherwise Spark trims what it writes.
    "ignoreLeadingWhiteSpace": "false",
    "ignoreTrailingWhiteSpace": "false",
}
_SPARK_OPTIONS = {
    "json": _TIMESTAMPS,
    "csv": {**_TIMESTAMPS, **_CSV},
    "xml": {**_TIMESTAMPS, "rowTag": "message"},
}

BUILT_IN = ("parquet", "json", "csv", "orc", "xml")

_AVRO = "org.apache.spark:spark-avro_2.13:{version}"
_INSTALLED = ("avro", *FORMAT_PACKAGES)
_NO_TABLES = {
    "text": "it has one column",
    "binaryfile": "Spark can only read it",
    "noop": "it stores nothing",
    "console": "it stores nothing",
}


def build_spark_options(format: str) -> dict[str, str]:
    """Return Spark's options for writing and reading a format."""
    return _SPARK_OPTIONS.get(format, {})


def parse_format(format: str) -> str:
    """Return the name of a format as Spark knows it. Raises BadInput for a name that no format can have, or a
    format that cannot store a table."""
    if not re.fullmatch(r"[\w.-]+", format):
        raise BadInput(f"--format {format!r} is not a valid format", "use parquet, json or csv, for example")
    if reason := _NO_TABLES.get(format.lower()):
        raise BadInput(f"--format {format} cannot store messages: {reason}", f"use {', '.join(BUILT_IN[:4])}")
    return format.lower() if format.lower() in (*BUILT_IN, *_INSTALLED) else format


def check_available(spark: "SparkSession", format: str) -> None:
    """Raise BadInput unless this Spark has the format."""
    if format in BUILT_IN:
        return
    try:
        spark.read.format(format).load("/nonexistent")
    except Exception as error:  # any other error, such as a missing file, means that it has the format
        if not re.search(r"\[\w*DATA_SOURCE_NOT_(FOUND|ENABLED)\]|Failed to find data source", str(error)):
            return
        hint = "parquet, json, csv and orc are always available"
        if format in FORMAT_PACKAGES:
            hint = "add --packages auto, or use parquet, json, csv or orc"
        elif format == "avro":
            package = _AVRO.format(version=spark.version)
            hint = f"--packages {package} installs it, or use parquet, json, csv or orc"
        raise BadInput(f"this Spark does not have the format {format}", hint) from None
