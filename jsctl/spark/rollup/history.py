"""Reading of a rollup's tables, on this machine without Spark: they are small, and a JVM takes seconds to
start."""

from collections.abc import Sequence
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from jsctl.base.command_lines import build_flag, build_line
from jsctl.errors import BadInput, JsctlError, MissingDependency, NotFound
from jsctl.spark.export.exported_tables import find_committed, load_files
from jsctl.spark.export.target import Target, read_marker
from jsctl.spark.rollup.definition import REPORTS
from jsctl.spark.rollup.rollup import FOLDER, TABLES
from jsctl.spark.session.hadoop import HadoopPath, Place
from jsctl.spark.session.spark_errors import extract_message

Row = dict[str, Any]


class History(NamedTuple):
    """A rollup. daily: whether a row is a day instead of an hour. reports: rows by report (streams,
    consumers, replication, servers), oldest first. movers: by day and rank."""

    daily: bool
    reports: dict[str, list[Row]]
    movers: list[Row]


def load(
    path: Place,
    *,
    daily: bool,
    since: datetime | None = None,
    until: datetime | None = None,
    pattern: str = "",
) -> History:
    """Return the rows of streams that match the glob `pattern`, from `since` up to `until` (exclusive).

    path: the folder of a rollup, or of the export that holds it; a URI is connected. Raises NotFound
    without a rollup, BadInput for other exports, MissingDependency without pyarrow, JsctlError.
    """
    folder = path
    if (read_marker(path) or {}).get("kind") == "reports":
        folder = path / FOLDER
    kind = (read_marker(folder) or {}).get("kind")
    if kind is None:
        raise NotFound(
            f"there is no rollup in {path}",
            f"create it with {build_line('export rollup', flags=build_flag('--from', path))}",
        )
    if kind != "rollup":
        raise BadInput(f"{path} holds an export of {kind}, not a rollup", "name the folder of the reports")
    if isinstance(folder, Path):
        Target(folder, "rollup", "parquet", TABLES).recover()

    def is_wanted(row: Row) -> bool:
        if (since and row["period"] < since) or (until and row["period"] >= until):
            return False
        return not pattern or "stream" not in row or fnmatchcase(row["stream"], pattern)

    suffix = "daily" if daily else "hourly"
    reports = {
        report.name: sorted(
            filter(is_wanted, _read_rows(folder / f"{report.name}_{suffix}")), key=lambda row: row["period"]
        )
        for report in REPORTS
    }
    movers = sorted(
        filter(is_wanted, _read_rows(folder / "movers_daily")),
        key=lambda row: (-row["period"].timestamp(), row["measure"], row["rank"]),
    )
    return History(daily, reports, movers)


def _read_rows(folder: Place) -> Sequence[Row]:
    if not folder.is_dir():
        return []
    rows = _read_with_spark(folder) if isinstance(folder, HadoopPath) else _read_with_arrow(folder)
    for row in rows:
        row["period"] = row["period"].replace(tzinfo=UTC) if not row["period"].tzinfo else row["period"]
        del row["date"]
    return rows


def _read_with_arrow(folder: Path) -> list[Row]:
    try:
        from pyarrow import dataset
    except ImportError:
        raise MissingDependency("PyArrow is not installed", "run: pip install 'jsctl[spark]'") from None
    try:
        rows: list[Row] = dataset.dataset(str(folder), partitioning="hive").to_table().to_pylist()
    except (OSError, ValueError) as error:
        raise JsctlError(f"cannot read {folder}: {str(error).splitlines()[0]}") from None
    return rows


def _read_with_spark(folder: HadoopPath) -> list[Row]:
    files = find_committed(folder)
    if files == []:
        return []
    try:
        frame = load_files(folder.find_session().read.format("parquet"), folder, files)
        rows: list[Row] = frame.toArrow().to_pylist()
    except Exception as error:
        raise JsctlError(f"cannot read {folder}: {extract_message(error)}") from None
    return rows
