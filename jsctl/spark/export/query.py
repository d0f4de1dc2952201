"""Queries over the folder of an export with Spark SQL: every table in it is a view with its name."""

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from jsctl.base.command_lines import build_flag, build_line
from jsctl.errors import BadInput, JsctlError, NotFound
from jsctl.spark.export.commit_log import StateReader, read_state
from jsctl.spark.export.exported_tables import find_committed, load_files, read_exported
from jsctl.spark.export.formats import build_spark_options
from jsctl.spark.export.layout import flatten_for_format
from jsctl.spark.export.report_tables import SCHEMAS
from jsctl.spark.export.stream_target import read_checkpoint
from jsctl.spark.export.table_files import replace_table
from jsctl.spark.export.target import FORMATS, read_marker
from jsctl.spark.export.targets import TablesTarget
from jsctl.spark.session.folders import read_path
from jsctl.spark.session.hadoop import HadoopPath, Place
from jsctl.spark.session.spark_errors import extract_message

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


RESULTS = "results"
"""The table that a query is written to."""

_SHOWING = re.compile(r"(show\s+(tables|views|columns)|desc(ribe)?)\b", re.IGNORECASE)
"""Statements that show what there is, besides SELECT."""


class Answer(NamedTuple):
    """The result of a query.

    columns: pairs of a name and Spark's simple type name. rows: Python values; times are aware and in UTC.
    is_truncated: whether there were more rows than the limit.
    """

    columns: list[tuple[str, str]]
    rows: list[list[Any]]
    is_truncated: bool


def find_tables(path: Place, read: StateReader = read_state) -> dict[str, str]:
    """Return the tables below `path`: name -> format. Includes tables that an export has not written to yet.

    Raises NotFound when there is none.
    """
    if not path.is_dir():
        raise NotFound(
            f"there is no folder {path}",
            f"create it with {build_line('export reports', flags=build_flag('--to', path))}",
        )
    marker = read_marker(path, read)
    if marker:
        names = list(SCHEMAS) if marker.get("kind") == "reports" else marker["tables"]
        if marker.get("kind") == "rollup":  # tables without rows have no schema
            names = [name for name in names if (path / str(name)).is_dir()]
        return {str(name): str(marker.get("format")) for name in names}
    names = sorted(child.name for child in path.iterdir() if not child.name.startswith(("_", ".")))
    folders = [folder for folder in (path / name for name in names) if folder.is_dir()]
    tables = {folder.name: format for folder in folders if (format := _guess_format(folder))}
    if not tables:
        raise NotFound(f"{path} holds no tables", "name the folder that an export wrote to")
    return tables


def _guess_format(folder: Place) -> str:
    names = [file.name for file in folder.rglob("*.*")]
    endings = {name.rpartition(".")[2] for name in names if not name.startswith(("_", "."))}
    return next((format for format in FORMATS if format in endings), "")


def query(spark: "SparkSession", places: Mapping[str, Place], sql: str, limit: int = 1000) -> Answer:
    """Run one query over the tables of exports; return at most `limit` rows.

    places: the folders of the exports, by what the names of their tables begin with; empty for nothing.
    Raises NotFound without tables, BadInput for anything but a valid query, JsctlError for unreadable tables.
    """
    frame = _select(spark, places, sql)
    columns = [(field.name, field.dataType.simpleString()) for field in frame.schema.fields]
    try:
        # Arrow keeps the zones of times, which Row would drop.
        table = frame.limit(limit + 1).toArrow()
    except Exception as error:
        raise _refused_error(error, places) from None
    values = [table.column(at).to_pylist() for at in range(table.num_columns)]
    rows = [list(row) for row in zip(*values, strict=True)]
    return Answer(columns, rows[:limit], len(rows) > limit)


def write(spark: "SparkSession", places: Mapping[str, Place], sql: str, target: TablesTarget) -> int:
    """Replace the table RESULTS of a target by the rows of a query; return how many. Raises what `query`
    raises."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    frame, counts = _select(spark, places, sql), Observation()
    try:
        table = flatten_for_format(frame.observe(counts, F.count(F.lit(1)).alias("rows")), target.format)
        return replace_table(spark, target, RESULTS, table, counts, {"query": sql})[0]
    except JsctlError:
        raise
    except Exception as error:
        raise _refused_error(error, places) from None


def _select(spark: "SparkSession", places: Mapping[str, Place], sql: str) -> "DataFrame":
    """Return the rows of a query, with variants as JSON."""
    sql = check_query(spark, sql, "the query")
    for prefix, place in places.items():
        register_views(spark, place, prefix)
    try:
        return _with_readable_variants(spark.sql(sql))
    except Exception as error:
        raise _refused_error(error, places) from None


def _refused_error(error: Exception, places: Mapping[str, Place]) -> BadInput:
    names = [prefix + name for prefix, place in places.items() for name in find_tables(place)]
    hint = f"the tables are {', '.join(names)}" if names else "tables of a catalog have their whole names"
    return BadInput(f"Spark refuses the query: {extract_message(error).rstrip('.')}", hint)


def _with_readable_variants(frame: "DataFrame") -> "DataFrame":
    """Return a frame with its variants as JSON; Python would receive their bytes."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import VariantType

    if not any(isinstance(field.dataType, VariantType) for field in frame.schema.fields):
        return frame
    names = [f"_{number}" for number in range(len(frame.columns))]  # names in a query may be equal
    columns = [
        F.to_json(name).alias(field.name)
        if isinstance(field.dataType, VariantType)
        else F.col(name).alias(field.name)
        for name, field in zip(names, frame.schema.fields, strict=True)
    ]
    return frame.toDF(*names).select(*columns)


def check_query(spark: "SparkSession", sql: str, label: str = "--query") -> str:
    """Return the text of a SELECT, SHOW or DESCRIBE without semicolons at its end. The tables need not exist
    yet.

    Raises BadInput for anything else: `SparkSession.sql` runs an INSERT or CREATE as soon as it is called.
    """
    sql = sql.rstrip("; \t\r\n")
    if _SHOWING.match(sql):
        _is_parsable(spark, f"EXPLAIN {sql}", f"{label} is not valid SQL")
        return sql
    # Only a query is valid here, and an EXPLAIN runs nothing.
    if not _is_parsable(spark, f"EXPLAIN WITH jsctl_query AS (\n{sql}\n) SELECT 1"):
        _is_parsable(spark, f"EXPLAIN {sql}", f"{label} is not valid SQL")
        raise BadInput(f"{label} is not a SELECT", "use one SELECT, SHOW TABLES or DESCRIBE, which only read")
    return sql


def _is_parsable(spark: "SparkSession", sql: str, problem: str = "") -> bool:
    """Return whether Spark can parse SQL that changes nothing. problem: raise BadInput with it if not."""
    from pyspark.errors import AnalysisException, ParseException

    try:
        spark.sql(sql)
    except ParseException as error:
        if problem:
            raise BadInput(f"{problem}: {extract_message(error).rstrip('.')}") from None
        return False
    except AnalysisException:  # such as a table that does not exist yet
        pass
    return True


def register_views(spark: "SparkSession", path: Place, prefix: str = "") -> dict[str, str]:
    """Create a view of each table below `path`; return the tables as `find_tables` does.

    prefix: of the names of the views. Raises NotFound, JsctlError.
    """
    read = cache(read_state)  # all tables in the same version
    tables = find_tables(path, read)
    for name, format in tables.items():
        try:
            _read(spark, path, name, format, read).createOrReplaceTempView(f"`{prefix}{name}`")
        except Exception as error:
            raise JsctlError(f"Spark cannot read {path / name}: {extract_message(error)}") from None
    return tables


def _read(spark: "SparkSession", path: Place, name: str, format: str, read: StateReader) -> "DataFrame":
    folder = path / name
    if checkpoint := read_checkpoint(path, name, read):
        return read_exported(spark, folder, format, checkpoint, read)
    reader = spark.read.format(format).options(**build_spark_options(format))
    schema = None
    if (read_marker(path, read) or {}).get("kind") == "reports" and name in SCHEMAS:
        schema = SCHEMAS[name].build_ddl()
        if not folder.is_dir():
            return spark.createDataFrame([], schema)
        reader = reader.schema(schema)
    elif format == "csv":
        reader = reader.option("inferSchema", "true")
    if isinstance(folder, HadoopPath):
        return load_files(reader, folder, find_committed(folder, read), schema)
    return reader.load(read_path(folder))
