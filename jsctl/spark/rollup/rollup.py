"""Rollups of report samples into hours and days, with Spark SQL: two tables for each report of
`definition.py` (`streams_hourly`, `streams_daily`), and `movers_daily`: the first ten streams by what was
stored, grown and shrunk (rank, measure, stream, value). All have period (start of the hour or day, UTC),
context, domain, and the partition `date`.
"""

from datetime import date
from typing import TYPE_CHECKING, Any

from jsctl.base.command_lines import build_flag, build_line
from jsctl.errors import BadInput, JsctlError, NotFound
from jsctl.spark.export import query
from jsctl.spark.export.table_files import append_by_date
from jsctl.spark.export.table_schema import PARTITION
from jsctl.spark.export.target import read_marker
from jsctl.spark.export.targets import FolderTarget, open_folder
from jsctl.spark.rollup.definition import PERIODS, REPORTS, RollupReport
from jsctl.spark.session.hadoop import Place
from jsctl.spark.session.spark_errors import DISK_FULL, extract_message

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOLDER = "rollup"
"""The folder of a rollup below its export, unless another one is named."""

TOP = 10

TABLES = [*(f"{report.name}_{suffix}" for report in REPORTS for suffix in PERIODS), "movers_daily"]


def check_source(path: Place) -> None:
    """Raise NotFound or BadInput unless `path` is an export of reports."""
    if not path.is_dir():
        raise NotFound(
            f"there is no folder {path}",
            f"create it with {build_line('export reports', flags=build_flag('--to', path))}",
        )
    kind = (read_marker(path) or {}).get("kind")
    if kind != "reports":
        raise BadInput(
            f"{path} is not an export of reports",
            "name the folder of jsctl export reports --to",
        )


def open_target(path: Place) -> FolderTarget:
    """Return the folder of a rollup. Raises BadInput when something else is there."""
    return open_folder(path, "rollup", "parquet", TABLES)


def roll_up(
    spark: "SparkSession", path: Place, target: FolderTarget, since: date | None = None
) -> dict[str, int]:
    """Write the hours and days of all dates of the samples at `path`, beginning at `since`; return the number
    of rows by table.

    Only the partitions of these dates are replaced, all in one step. Raises JsctlError.
    """
    target.recover()
    query.register_views(spark, path)
    rows: dict[str, int] = {}
    try:
        with target.stage(replace=True) as folder:
            for report in REPORTS:
                for suffix, unit in PERIODS.items():
                    name = f"{report.name}_{suffix}"
                    frame = spark.sql(build_statement(report, unit, since))
                    table = frame.toArrow()  # small: one row for each stream and period
                    rows[name] = _write(spark, table, folder / name)
                    if name == "streams_daily":
                        spark.createDataFrame(table).createOrReplaceTempView("rolled_streams_daily")
            rows["movers_daily"] = _write(spark, spark.sql(MOVERS).toArrow(), folder / "movers_daily")
    except JsctlError:
        raise
    except Exception as error:
        reason = extract_message(error)
        task = f"write to {target.path}" if reason == DISK_FULL else f"roll up {path}"
        raise JsctlError(f"Spark cannot {task}: {reason}") from None
    return rows


def _write(spark: "SparkSession", table: Any, folder: Place) -> int:
    if table.num_rows:
        append_by_date(spark, table, "parquet", folder)
    return int(table.num_rows)


def build_statement(report: RollupReport, unit: str, since: date | None) -> str:
    """Return the SELECT that rolls up a report.

    The last samples before `since` provide the earlier values of counters.
    """
    keys = ", ".join(("context", "domain", *report.keys))
    identity = [report.identity] if report.identity else []
    compared = ["sampled_at", *identity, *report.counters, *report.gauges]
    previous = [f"lag({column}) OVER one AS {column}_before" for column in compared]
    is_remade = " OR ".join([f"{column} <> {column}_before" for column in identity]) or "false"
    reset = " OR ".join([is_remade, *(f"{column} < {column}_before" for column in report.counters)])
    changes = [
        f"CASE WHEN sampled_at_before IS NULL THEN 0"
        f" WHEN reset THEN {f'IF({is_remade}, {column}, 0)' if identity else column}"
        f" ELSE {column} - {column}_before END AS {column}_new"
        for column in report.counters
    ]
    changes += [f"coalesce({column} - {column}_before, 0) AS {column}_change" for column in report.gauges]
    measures = [f"{m.aggregate.sql.format(*m.arguments)} AS {m.name}" for m in report.measures]
    conditions = [f"{column} IS NOT NULL" for column in (*report.counters, *report.gauges)]
    conditions += [f"{report.absent} IS NULL"] if report.absent else []
    source = f"{report.name} WHERE {' AND '.join(conditions) or 'true'}"
    samples = f"SELECT * FROM {source}"
    from_date = f" AND {PARTITION} >= DATE '{since.isoformat()}'" if since else ""
    if since:
        latest = f"SELECT max_by(struct(*), sampled_at) AS latest FROM {source}"
        earlier = f"{latest} AND {PARTITION} < DATE '{since.isoformat()}' GROUP BY {keys}"
        samples += f"{from_date} UNION ALL SELECT latest.* FROM ({earlier})"
    sql = f"""
WITH samples AS (
  {samples}
), compared AS (
  SELECT *, {", ".join(previous)} FROM samples
  WINDOW one AS (PARTITION BY {keys} ORDER BY sampled_at)
), with_resets AS (
  SELECT *, coalesce({reset}, false) AS reset,
    (unix_micros(sampled_at) - unix_micros(sampled_at_before)) / 1e6 AS seconds
  FROM compared
), changed AS (
  SELECT {", ".join(["*", *changes])} FROM with_resets
), rolled AS (
  SELECT date_trunc('{unit}', sampled_at) AS period, {keys}, {", ".join(measures)}, {PARTITION}
  FROM changed WHERE true{from_date} GROUP BY period, {keys}, {PARTITION}
)
SELECT * FROM rolled ORDER BY period, {keys}"""
    return sql.strip()


MOVERS = f"""
WITH measured AS (
  SELECT period, context, domain, stream, {PARTITION},
    stack(3, 'stored', stored, 'growth', growth, 'shrink', -growth) AS (measure, value)
  FROM rolled_streams_daily
), ranked AS (
  SELECT *, row_number() OVER (
    PARTITION BY {PARTITION}, measure ORDER BY value DESC, context, domain, stream) AS rank
  FROM measured WHERE value > 0
)
SELECT * FROM ranked WHERE rank <= {TOP} ORDER BY period, measure, rank"""
