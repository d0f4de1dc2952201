"""Tables that `jsctl export stream` wrote, as the messages that they were: their checkpoint says what became
of payloads and headers.

What a format cannot hold is not there again: subjects that are no UTF-8.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsctl.errors import BadInput
from jsctl.spark.export.decode import BAD
from jsctl.spark.export.export import read_table
from jsctl.spark.export.stream_target import KIND, read_checkpoint
from jsctl.spark.export.target import read_marker

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


def tables(path: Path) -> tuple[str, dict[Path, dict[str, Any]]]:
    """The format and the tables, with their checkpoints, of an export's folder or of one table in it.

    Empty for anything else. Raises JsctlError when they cannot be read.
    """
    for folder, names in ((path, None), (path.parent, [path.name])):
        marker = read_marker(folder) if folder.is_dir() else None
        if marker and marker.get("kind") == KIND:
            named = names or [str(name) for name in marker.get("tables", ())]
            held = {folder / name: read_checkpoint(folder, name) for name in named}
            found = {table: checkpoint for table, checkpoint in held.items() if checkpoint is not None}
            return str(marker.get("format")), found
    return "", {}


def read(spark: "SparkSession", folder: Path, format: str, checkpoint: dict[str, Any]) -> "DataFrame":
    """A table as it was written. Raises what Spark raises."""
    from pyspark.sql.types import StructType

    return read_table(spark, folder, format, StructType.fromJson(checkpoint["columns"]))


def check(folder: Path, checkpoint: dict[str, Any]) -> None:
    """Raise BadInput when the payloads are not in the table."""
    settings = checkpoint["settings"]
    if settings.get("decode") == "json" and not settings.get("keep_data"):
        raise BadInput(
            f"the payloads are not in {folder}, which was exported with --decode json",
            "export it with --keep-data",
        )


def messages(table: "DataFrame", format: str, checkpoint: dict[str, Any]) -> "DataFrame":
    """stream, subject, sequence, timestamp, data (binary), and where they were exported headers."""
    from pyspark.sql import functions as f

    decode = checkpoint["settings"].get("decode")
    # Formats without a binary type hold it as base64; Spark itself reads JSON's.
    as_text = format == "csv"

    def binary(name: str) -> "Column":
        return f.to_binary(f.col(name), f.lit("base64")) if as_text else f.col(name)

    if decode == "text":
        payload = f.col("data").cast("binary")
    elif decode == "base64":
        payload = (f.col("data") if as_text else f.base64("data")).cast("binary")
    else:
        payload = binary("data")
    if decode in ("text", "base64"):
        payload = f.coalesce(payload, binary(BAD))
    payload = f.coalesce(payload, f.lit("").cast("binary"))
    columns = [f.col(name) for name in ("stream", "subject", "sequence", "timestamp")]
    if "headers" in table.columns:
        pairs = "array<struct<key: string, value: binary>>"
        found = f.from_json("headers", pairs) if as_text else f.col("headers")
        columns.append(found.alias("headers"))
    return table.select(*columns, payload.alias("data"))
