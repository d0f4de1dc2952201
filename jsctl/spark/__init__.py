"""JetStream streams and reports in Spark. Notebooks need `connect`, `decode` and the format `jetstream`."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def connect(spark: "SparkSession", *, pushdown: bool = False, **options: str) -> None:
    """Make `jetstream` of this session read and write with these connection options, such as context="prod".

    Reads and writes must not give them again. On a cluster the executors get jsctl with it. pushdown: let
    filters of batch queries reach the server; each query then needs a `load()` of its own.

    Raises BadInput, NotFound.
    """
    from jsctl.spark.datasource import registration  # every other import of this package needs no PySpark

    registration.connect(spark, pushdown=pushdown, **options)


def decode(
    messages: "DataFrame",
    kind: str = "",
    *,
    schema: "str | bytes | Path" = "",
    message: str = "",
    registry: bool = False,
    decompress: str = "",
    keep_data: bool = False,
) -> "DataFrame":
    """Return messages with what is in their column `data` instead of it; also in streaming queries.

    Args:
        messages: the column `data` is binary; all others stay.
        kind: `json`, `avro` or `protobuf` for a column for each field, `variant` for a column `value`, `text`
            or `base64` for another `data`; empty to decompress only.
        schema: DDL for `json`; an Avro schema as JSON; what `protoc --descriptor_set_out` wrote; or the path
            of a file with it.
        message: full name of the Protobuf message, if there are several.
        registry: payloads begin with the id of a schema, as clients of a schema registry write them.
        decompress: `gzip`, `s2`, `zstd`, or `auto` to go by the first bytes.
        keep_data: keep `data` beside the fields.

    A payload that does not fit is in the column `bad_payload`. Raises BadInput, MissingDependency.
    """
    from jsctl.spark.export import layout

    return layout.decode_messages(messages, kind, schema, message, registry, decompress, keep_data)
