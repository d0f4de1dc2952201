"""JetStream streams and reports in Spark. Notebooks need `connect`, `decode` and the format `jetstream`."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def connect(spark: "SparkSession | None" = None, **options: str) -> "SparkSession":
    """Make `jetstream` of a session read and write with these connection options, such as context="prod".

    Reads and writes must not set them again. On a cluster this also sends jsctl to the executors.

    Args:
        spark: the session; without it, the one that this process has, else a new one on this machine. That
            one runs on the Java that `jsctl doctor --spark` shows, which may be the package's own.
        options: those of the data source for connections.

    Returns the session. Raises BadInput, NotFound, and MissingDependency when there is no Spark or Java.
    """
    from jsctl.spark.datasource import registration  # needs PySpark, unlike this package

    return registration.connect(spark, **options)


def decode(
    messages: "DataFrame",
    kind: str = "",
    *,
    schema: "str | bytes | Path" = "",
    message: str = "",
    registry: bool | str = False,
    decompress: str = "",
    keep_data: bool = False,
) -> "DataFrame":
    """Return messages with the decoded contents of their column `data` in its place; also in streaming
    queries.

    Args:
        messages: a frame with a binary column `data`; all other columns stay.
        kind: `json`, `avro` or `protobuf` for a column for each field, `variant` for a column `value`, `text`
            or `base64` to decode `data` itself; empty to decompress only.
        schema: DDL for `json`; an Avro schema as JSON; the output of `protoc --descriptor_set_out`; or the
            path of a file with one of these.
        message: full name of the Protobuf message, if there are several.
        registry: payloads begin with the id of a schema, as clients of a schema registry write them: the
            address of the registry, or True to skip the id.
        decompress: `gzip`, `s2`, `zstd`, or `auto` to detect it from the first bytes.
        keep_data: keep `data` beside the fields.

    A payload that cannot be decoded is in the column `bad_payload`. Raises BadInput, MissingDependency.
    """
    from jsctl.spark.export import layout

    return layout.decode_messages(messages, kind, schema, message, str(registry), decompress, keep_data)
