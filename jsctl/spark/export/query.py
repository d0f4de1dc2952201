"""Spark SQL on an export's folder: every table in it is a view of its name."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from jsctl.errors import BadInput, JsctlError, NotFound
from jsctl.spark.export.export import read_table
from jsctl.spark.export.reports import SCHEMAS
from jsctl.spark.export.stream_target import read_checkpoint
from jsctl.spark.export.target import FORMATS, read_marker
from jsctl.spark.export.write import options
from jsctl.spark.session.session import first_line

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Answer(NamedTuple):
    """What a query found. `columns`: (name, Spark's simple type name). `rows`: Python values; times aware
    and in UTC. `more`: there were more rows than asked for."""

    columns: list[tuple[str, str]]
    rows: list[list[Any]]
    more: bool


def tables(path: Path) -> dict[str, str]:
    """The tables below `path`: name -> format. A table that our export has not written to yet is one too.

    Raises NotFound when there is none.
    """
    if not path.is_dir():
        raise NotFound(f"there is no folder {path}", "jsctl export reports --to makes one")
    marker = read_marker(path)
    if marker:
        names = list(SCHEMAS) if marker.get("kind") == "reports" else marker.get("tables", ())
        if marker.get("kind") == "rollup":  # tables without rows have no schema
            names = [name for name in names if (path / str(name)).is_dir()]
        return {str(name): str(marker.get("format")) for name in names}
    folders = [f for f in sorted(path.iterdir()) if f.is_dir() and not f.name.startswith(("_", "."))]
    found = {folder.name: format for folder in folders if (format := _format(folder))}
    if not found:
        raise NotFound(f"{path} holds no tables", "name the folder that an export went to")
    return found


def _format(folder: Path) -> str:
    endings = {
        file.suffix.lstrip(".") for file in folder.rglob("*.*") if not file.name.startswith(("_", "."))
    }
    return next((format for format in FORMATS if format in endings), "")


def query(spark: "SparkSession", path: Path, sql: str, limit: int = 1000) -> Answer:
    """Run one SELECT over the tables below `path`; at most `limit` rows come back.

    Raises NotFound (no tables there), BadInput (Spark refuses the SQL), JsctlError (unreadable tables).
    """
    found = register(spark, path)
    try:
        frame = spark.sql(sql)
        columns = [(field.name, field.dataType.simpleString()) for field in frame.schema.fields]
        # Arrow, because Row would give times without a zone.
        table = frame.limit(limit + 1).toArrow()
    except Exception as error:
        raise BadInput(
            f"Spark refuses the query: {first_line(error).rstrip('.')}", f"the tables are {', '.join(found)}"
        ) from None
    values = [table.column(at).to_pylist() for at in range(table.num_columns)]
    rows = [list(row) for row in zip(*values, strict=True)]
    return Answer(columns, rows[:limit], len(rows) > limit)


def check(spark: "SparkSession", sql: str) -> None:
    """Raise BadInput for what is no SQL; which tables there are does not matter yet."""
    from pyspark.errors import ParseException

    try:
        spark.sql(f"EXPLAIN {sql}")
    except ParseException as error:
        raise BadInput(f"--query is no SQL: {first_line(error).rstrip('.')}") from None


def register(spark: "SparkSession", path: Path) -> dict[str, str]:
    """Make a view of each table below `path`. Returns what `tables` does. Raises NotFound, JsctlError."""
    found = tables(path)
    for name, format in found.items():
        try:
            _table(spark, path, name, format).createOrReplaceTempView(f"`{name}`")
        except Exception as error:
            raise JsctlError(f"Spark cannot read {path / name}: {first_line(error)}") from None
    return found


def _table(spark: "SparkSession", path: Path, name: str, format: str) -> "DataFrame":
    folder = path / name
    if checkpoint := read_checkpoint(path, name):
        from pyspark.sql.types import StructType

        return read_table(spark, folder, format, StructType.fromJson(checkpoint["columns"]))
    reader = spark.read.format(format).options(**options(format))
    if (read_marker(path) or {}).get("kind") == "reports" and name in SCHEMAS:
        schema = SCHEMAS[name].ddl()
        if not folder.is_dir():
            return spark.createDataFrame([], schema)
        reader = reader.schema(schema)
    elif format == "csv":
        reader = reader.option("inferSchema", "true")
    return reader.load(folder.absolute().as_uri())
