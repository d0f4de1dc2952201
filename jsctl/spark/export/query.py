"""Queries over the folder of an export with Spark SQL: every table in it is a view with its name."""

import contextlib
import re
import uuid
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from jsctl.base.command_lines import build_flag, build_line
from jsctl.errors import BadInput, JsctlError, NotFound
from jsctl.spark.export.answer_values import build_distinct_names, fetch_rows
from jsctl.spark.export.catalog_table import CatalogTable
from jsctl.spark.export.commit_log import StateReader, read_state
from jsctl.spark.export.exported_tables import find_committed, load_files, read_exported
from jsctl.spark.export.formats import build_spark_options
from jsctl.spark.export.stream_target import read_checkpoint
from jsctl.spark.export.table_files import replace_table
from jsctl.spark.export.target import FORMATS, read_marker
from jsctl.spark.export.targets import TablesTarget
from jsctl.spark.export.text_formats import flatten_for_format
from jsctl.spark.session.folders import read_path
from jsctl.spark.session.hadoop import HadoopPath, Place
from jsctl.spark.session.spark_errors import extract_message, read_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from jsctl.spark.export.table_schema import TableSchema


RESULTS = "results"
"""The table that a query is written to."""

_MAX_TABLES = 100
"""How many tables that do not exist yet a query may name."""

_NO_TABLE = "TABLE_OR_VIEW_NOT_FOUND"

_SHOWING = re.compile(r"(?:\s|--[^\n]*\n|/\*.*?\*/)*(show|desc(ribe)?)\b", re.IGNORECASE | re.DOTALL)
"""Statements that show what there is, besides SELECT; all of them only read."""


class Answer(NamedTuple):
    """The result of a query.

    columns: pairs of a name and Spark's simple type name. rows: values of `answer_values`. is_truncated:
    whether there were more rows than the limit.
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
        names = list(_load_report_schemas()) if marker.get("kind") == "reports" else marker["tables"]
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
    names = build_distinct_names(frame.columns)
    columns = [(name, field.dataType.simpleString()) for name, field in zip(names, frame.schema, strict=True)]
    try:
        rows = list(fetch_rows(frame.limit(limit + 1)))
    except Exception as error:
        raise _refused_error(error, places) from None
    return Answer(columns, rows[:limit], len(rows) > limit)


def write(spark: "SparkSession", places: Mapping[str, Place], sql: str, target: TablesTarget) -> int:
    """Replace the table RESULTS of a target by the rows of a query; return how many. Raises what `query`
    raises."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    frame, counts = _select(spark, places, sql), Observation()
    try:
        table = frame.toDF(*build_distinct_names(frame.columns)).observe(
            counts, F.count(F.lit(1)).alias("rows")
        )
        table = flatten_for_format(table, target.format)
        return replace_table(spark, target, RESULTS, table, counts, {"query": sql})[0]
    except JsctlError:
        raise
    except Exception as error:
        raise _refused_error(error, places) from None


def _select(spark: "SparkSession", places: Mapping[str, Place], sql: str) -> "DataFrame":
    """Return the rows of a query."""
    sql = check_query(spark, sql, "the query")
    for prefix, place in places.items():
        register_views(spark, place, prefix)
    try:
        return spark.sql(sql)
    except Exception as error:
        raise _refused_error(error, places) from None


def _refused_error(error: Exception, places: Mapping[str, Place]) -> BadInput:
    hint = ""
    if _NO_TABLE in read_text(error):
        names = [prefix + name for prefix, place in places.items() for name in find_tables(place)]
        hint = f"the tables are {', '.join(names)}" if names else "tables of a catalog have their whole names"
    return BadInput(f"Spark refuses the query: {extract_message(error).rstrip('.')}", hint)


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


def check_tables(spark: "SparkSession", sql: str, path: object, tables: Sequence[str]) -> None:
    """Raise BadInput for a query about a table that is neither there nor among those that are written before
    it.

    path: where these are written to. tables: their names in a folder.
    """
    from pyspark.errors import AnalysisException

    names = [path.name] if isinstance(path, CatalogTable) else [*tables]
    if isinstance(path, (Path, HadoopPath)):
        with contextlib.suppress(NotFound):
            names += find_tables(path)
    written = set(map(_split_name, names))
    stand_in = f"jsctl_{uuid.uuid4().hex}"
    spark.range(0).createOrReplaceTempView(stand_in)
    try:
        for _ in range(_MAX_TABLES):
            try:
                _ = spark.sql(sql).schema
            except AnalysisException as error:
                place = _find_missing_table(error)
                if place is None:
                    return  # anything else is known when the tables are there
                name, start, stop = place
                if _split_name(name) not in written:
                    known = str(path) if isinstance(path, CatalogTable) else ", ".join(tables)
                    raise BadInput(
                        f"--query names {name.replace('`', '')}, which is no table",
                        f"the export writes {known}",
                    ) from None
                sql = f"{sql[:start]}{stand_in}{sql[stop + 1 :]}"
            else:
                return
    finally:
        spark.catalog.dropTempView(stand_in)


def _find_missing_table(error: Any) -> tuple[str, int, int] | None:
    """Return the table that a query lacks, and where it is in its text; None for other errors."""
    if error.getCondition() != _NO_TABLE:
        return None
    context = next(iter(error.getQueryContext()), None)
    if context is None or context.startIndex() < 0:
        return None
    return error.getMessageParameters()["relationName"], context.startIndex(), context.stopIndex()


def _split_name(name: str) -> tuple[str, ...]:
    """Return the parts of a table's name, in lower case, as Spark compares them."""
    parts = re.findall(r"`(?:[^`]|``)+`|[^.`\s]+", name)
    return tuple(part.strip("`").replace("``", "`").lower() for part in parts)


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


def _load_report_schemas() -> "Mapping[str, TableSchema]":
    """Return the schemas of reports' tables, whose import takes longer than that of all else here."""
    from jsctl.spark.export.report_tables import SCHEMAS

    return SCHEMAS


def _read(spark: "SparkSession", path: Place, name: str, format: str, read: StateReader) -> "DataFrame":
    folder = path / name
    if checkpoint := read_checkpoint(path, name, read):
        return read_exported(spark, folder, format, checkpoint, read)
    reader = spark.read.format(format).options(**build_spark_options(format))
    schema = None
    is_report = (read_marker(path, read) or {}).get("kind") == "reports"
    if is_report and (report_schema := _load_report_schemas().get(name)):
        schema = report_schema.build_ddl()
        if not folder.is_dir():
            return spark.createDataFrame([], schema)
        reader = reader.schema(schema)
    elif format == "csv":
        reader = reader.option("inferSchema", "true")
    if isinstance(folder, HadoopPath):
        return load_files(reader, folder, find_committed(folder, read), schema)
    return reader.load(read_path(folder))
