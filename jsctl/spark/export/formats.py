"""The formats of a table: built-in ones, those that have to be installed, and Spark's options for them."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

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


class FileFormat(NamedTuple):
    """A format whose tables are only files; others may have a log of their own.

    options: Spark's, to write and read it. is_text: whether bytes are in base64. is_built_in: whether each
    Spark has it.
    """

    options: Mapping[str, str] = MappingProxyType({})
    is_text: bool = False
    is_built_in: bool = True


FILE_FORMATS = {
    "parquet": FileFormat(),
    "json": FileFormat(_TIMESTAMPS, is_text=True),
    "csv": FileFormat({**_TIMESTAMPS, **_CSV}, is_text=True),
    "orc": FileFormat(),
    "xml": FileFormat({**_TIMESTAMPS, "rowTag": "message"}, is_text=True),
    "avro": FileFormat(is_built_in=False),
}

_AVRO = "org.apache.spark:spark-avro_2.13:{version}"
_NO_TABLES = {
    "text": "it has one column",
    "binaryfile": "Spark can only read it",
    "noop": "it stores nothing",
    "console": "it stores nothing",
}


def build_spark_options(format: str) -> Mapping[str, str]:
    """Return Spark's options for writing and reading a format."""
    return FILE_FORMATS.get(format, FileFormat()).options


def parse_format(format: str) -> str:
    """Return the name of a format as Spark knows it. Raises BadInput for a name that no format can have, or a
    format that cannot store a table."""
    if not re.fullmatch(r"[\w.-]+", format):
        raise BadInput(f"--format {format!r} is not a valid format", "use parquet, json or csv, for example")
    if reason := _NO_TABLES.get(format.lower()):
        raise BadInput(
            f"--format {format} cannot store messages: {reason}", f"use {', '.join([*FILE_FORMATS][:4])}"
        )
    return format.lower() if format.lower() in (*FILE_FORMATS, *FORMAT_PACKAGES) else format


def check_available(spark: "SparkSession", format: str) -> None:
    """Raise BadInput unless this Spark has the format."""
    if format in FILE_FORMATS and FILE_FORMATS[format].is_built_in:
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
