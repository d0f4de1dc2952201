"""Rollups of report samples into hours and days, with Spark SQL.

A counter (a stream's last sequence, a consumer's deliveries, a server's API requests) becomes the increase
between two samples, which belongs to the hour of the later one. A counter that fell, or whose stream was
created again, restarted from zero: its value is the increase. If the last sequence of a stream fell although
it was not created again, a restore set it back, and how much was stored is unknown. Sizes are gauges: their
growth is the difference between two samples, below zero after a purge or when a stream was created again.

All tables have period (start of the hour or day, UTC), context, domain, samples, and the partition `date`:

| table | columns |
|---|---|
| streams_hourly, _daily | stream; messages, bytes, consumers (last); stored, message_rate (per second), \
peak_rate; growth, growth_per_day (bytes); resets; lost, deleted (most); max_bytes, max_messages; \
days_to_limit (null: no limit, or it does not grow) |
| consumers_hourly, _daily | stream, consumer; unprocessed (last), lag_p50, lag_p95, lag_p99, lag_max; \
delivered, delivery_rate; ack_pending_max, redelivered_max; resets |
| replication_hourly, _daily | stream, kind, origin, api_prefix, filters; lag (last), lag_p50, lag_p95, \
lag_p99, lag_max; active_max (ns); errors (samples with one), never_active (samples) |
| servers_hourly, _daily | server, cluster; streams, consumers, messages, bytes, memory, file (last); api, \
api_rate, errors; restarts; pending_max |
| movers_daily | rank, measure (stored, growth, shrink), stream, value: the first ten of each |
"""

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from jsctl.command_lines import build_flag, build_line
from jsctl.errors import BadInput, JsctlError, NotFound
from jsctl.spark.export import query, shared_folder
from jsctl.spark.export.table_schema import PARTITION
from jsctl.spark.export.target import Target, read_marker
from jsctl.spark.session.folders import read_path, write_path
from jsctl.spark.session.spark_errors import DISK_FULL, extract_message

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FOLDER = "rollup"
"""The folder of a rollup below its export, unless another one is named."""

PERIODS = {"hourly": "HOUR", "daily": "DAY"}
TOP = 10


class Counter(NamedTuple):
    """A column that counts up. identity: the only column whose change means a restart of the counter; empty
    if any decrease does."""

    column: str
    identity: str = ""

    @property
    def increase(self) -> str:
        """The SQL of the increase since the previous sample."""
        after_restart, previous = self.column, f"{self.column}_before"
        if self.identity:
            after_restart = f"IF({self.identity} <> {self.identity}_before, {self.column}, 0)"
        return (
            f"CASE WHEN sampled_at_before IS NULL THEN 0 WHEN reset THEN {after_restart}"
            f" ELSE {self.column} - {previous} END AS {self.column}_new"
        )


class RollupReport(NamedTuple):
    """The rollup of one table of samples.

    keys: columns that identify the subject of a row, besides context and domain. deltas: further columns
    whose changes are needed. measures: aggregates in SQL. where: a condition for samples.
    """

    name: str
    keys: Sequence[str]
    counters: Sequence[Counter]
    deltas: Sequence[str]
    measures: Sequence[str]
    where: str = "true"


def _build_last(column: str) -> str:
    return f"max_by({column}, sampled_at) AS {column}"


def _build_lag_measures(column: str) -> list[str]:
    parts = [f"percentile({column}, {share / 100}) AS lag_p{share}" for share in (50, 95, 99)]
    return [*parts, f"max({column}) AS lag_max"]


REPORTS = (
    RollupReport(
        "streams",
        ("stream",),
        (Counter("last_seq", "created"),),
        ("bytes",),
        (
            *map(_build_last, ("messages", "bytes", "consumers", "max_bytes", "max_messages")),
            "sum(last_seq_new) AS stored",
            "sum(last_seq_new) / nullif(sum(seconds), 0) AS message_rate",
            "max(last_seq_new / nullif(seconds, 0)) AS peak_rate",
            "sum(bytes_change) AS growth",
            "sum(bytes_change) / nullif(sum(seconds), 0) * 86400 AS growth_per_day",
            "sum(int(reset)) AS resets",
            "max(lost) AS lost",
            "max(deleted) AS deleted",
        ),
        "offline IS NULL",
    ),
    RollupReport(
        "consumers",
        ("stream", "consumer"),
        (Counter("delivered"),),
        (),
        (
            _build_last("unprocessed"),
            *_build_lag_measures("unprocessed"),
            "sum(delivered_new) AS delivered",
            "sum(delivered_new) / nullif(sum(seconds), 0) AS delivery_rate",
            "max(ack_pending) AS ack_pending_max",
            "max(redelivered) AS redelivered_max",
            "sum(int(reset)) AS resets",
        ),
    ),
    RollupReport(
        "replication",
        ("stream", "kind", "origin", "api_prefix", "filters"),
        (),
        (),
        (
            _build_last("lag"),
            *_build_lag_measures("lag"),
            "max(active) AS active_max",
            "sum(int(error <> '')) AS errors",
            "sum(int(active IS NULL)) AS never_active",
        ),
    ),
    RollupReport(
        "servers",
        ("server", "cluster"),
        (Counter("api"), Counter("errors")),
        (),
        (
            *map(_build_last, ("streams", "consumers", "messages", "bytes", "memory", "file")),
            "sum(api_new) AS api",
            "sum(api_new) / nullif(sum(seconds), 0) AS api_rate",
            "sum(errors_new) AS errors",
            "sum(int(reset)) AS restarts",
            "max(pending) AS pending_max",
        ),
    ),
)

TABLES = [*(f"{report.name}_{suffix}" for report in REPORTS for suffix in PERIODS), "movers_daily"]


def check_source(path: Path) -> None:
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


def open_target(path: Path) -> Target:
    """Return the folder of a rollup. Raises BadInput when something else is there."""
    return Target.open(path, "rollup", "parquet", TABLES)


def roll_up(spark: "SparkSession", path: Path, target: Target, since: date | None = None) -> dict[str, int]:
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
                    rows[name] = _write(spark, frame, folder / name)
            daily = folder / "streams_daily"
            rows["movers_daily"] = 0
            if daily.exists():
                spark.read.parquet(read_path(daily)).createOrReplaceTempView("rolled_streams_daily")
                rows["movers_daily"] = _write(spark, spark.sql(MOVERS), folder / "movers_daily")
    except JsctlError:
        raise
    except Exception as error:
        reason = extract_message(error)
        task = f"write to {target.path}" if reason == DISK_FULL else f"roll up {path}"
        raise JsctlError(f"Spark cannot {task}: {reason}") from None
    return rows


def _write(spark: "SparkSession", frame: "DataFrame", folder: Path) -> int:
    table = frame.toArrow()  # small: one row for each stream and period
    if table.num_rows:
        path = write_path(folder)
        spark.createDataFrame(table).coalesce(1).write.partitionBy(PARTITION).parquet(path)
        shared_folder.check_visible(
            spark, folder, table.num_rows, lambda: spark.read.parquet(read_path(folder))
        )
    return int(table.num_rows)


def build_statement(report: RollupReport, unit: str, since: date | None = None) -> str:
    """Return the SELECT that rolls up a report.

    The last samples before `since` provide the earlier values of counters.
    """
    keys = ", ".join(("context", "domain", *report.keys))
    previous = [f"lag({c}) OVER one AS {c}_before" for c in _list_compared_columns(report)]
    resets = [f"{c.column} < {c.column}_before" for c in report.counters]
    resets += [f"{c.identity} <> {c.identity}_before" for c in report.counters if c.identity]
    reset = " OR ".join(resets) or "false"
    changes = [c.increase for c in report.counters]
    changes += [f"coalesce({c} - {c}_before, 0) AS {c}_change" for c in report.deltas]
    samples = f"SELECT * FROM {report.name} WHERE {report.where}"
    from_date = f" AND {PARTITION} >= DATE '{since.isoformat()}'" if since else ""
    if since:
        latest = f"SELECT max_by(struct(*), sampled_at) AS latest FROM {report.name} WHERE {report.where}"
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
  SELECT date_trunc('{unit}', sampled_at) AS period, {keys}, count(*) AS samples,
    {", ".join(report.measures)}, {PARTITION}
  FROM changed WHERE true{from_date} GROUP BY period, {keys}, {PARTITION}
)
SELECT *{_DAYS_TO_LIMIT if report.name == "streams" else ""} FROM rolled ORDER BY period, {keys}"""
    return sql.strip()


_DAYS_TO_LIMIT = """, CASE WHEN growth_per_day > 0 AND max_bytes > 0
  THEN greatest(max_bytes - bytes, 0) / growth_per_day END AS days_to_limit"""

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


def _list_compared_columns(report: RollupReport) -> list[str]:
    counters = [name for c in report.counters for name in (c.column, c.identity) if name]
    return list(dict.fromkeys(["sampled_at", *counters, *report.deltas]))
