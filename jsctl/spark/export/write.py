"""Rows into an export's folder, through Spark."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsctl.errors import JsctlError
from jsctl.spark.export import shared_folder as visible
from jsctl.spark.export.tables import PARTITION, TableSchema
from jsctl.spark.export.target import Target
from jsctl.spark.session.session import first_line

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Spark's own pattern keeps milliseconds only.
TIMESTAMPS = {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"}
CSV = {
    "header": "true", "escape": '"', "multiLine": "true",
    # Spark trims what it writes, else.
    "ignoreLeadingWhiteSpace": "false", "ignoreTrailingWhiteSpace": "false",
}  # fmt: skip

Rows = Mapping[str, Iterable[Mapping[str, Any]]]


def options(format: str) -> dict[str, str]:
    """Spark's options for writing and reading a format."""
    xml = {**TIMESTAMPS, "rowTag": "message"}
    return {"json": TIMESTAMPS, "csv": {**TIMESTAMPS, **CSV}, "xml": xml}.get(format, {})


def append(
    spark: "SparkSession",
    target: Target,
    schemas: Mapping[str, TableSchema],
    rows: Rows,
    check: Callable[[], None] = lambda: None,
) -> dict[str, int]:
    """Append rows, by table, in one step: all tables or none. Returns rows written by table.

    `check` may raise to undo it as long as nothing is in its place. Raises JsctlError when Spark cannot
    write, or wrote where this machine does not see it.
    """
    written: dict[str, int] = {}
    with target.stage() as folder:
        for name, schema in schemas.items():
            table = schema.arrow(rows.get(name, ()))
            written[name] = table.num_rows
            if table.num_rows:
                _write(spark, table, target.format, folder / name)
        check()
    return written


def _write(spark: "SparkSession", table: Any, format: str, folder: Path) -> None:
    try:
        writer = spark.createDataFrame(table).coalesce(1).write.partitionBy(PARTITION)
        place = folder.absolute().as_uri()
        writer.options(**options(format)).format(format).save(place)
        reader = spark.read.format(format).options(**options(format))
        visible.check(spark, folder, table.num_rows, lambda: reader.load(place))
    except JsctlError:
        raise
    except Exception as error:
        raise JsctlError(f"Spark cannot write to {folder.parent}: {first_line(error)}") from None
