"""Making the archive of `class_archive`: Spark runs once, and its JVM writes its classes at the end.

If there are several processes, the first one with the lock makes the archive. Readers see all of it or
nothing.
"""

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from jsctl.base import posix
from jsctl.base.files import temporary_folder
from jsctl.base.posix import make_private_folder
from jsctl.errors import JsctlError
from jsctl.spark.session import class_archive, java
from jsctl.spark.session.folders import read_path, write_path
from jsctl.spark.session.session import FAST_START_CONF, open_session

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

_ROWS = 100
_MAX_ARCHIVES = 3  #: each Spark, such as that of another virtual environment, and each Java has one


def make(archive: Path) -> bool:
    """Make the archive, and remove the least recently used ones; return False when it is there already.

    Raises JsctlError when the JVM does not write it, or another process makes it; OSError.
    """
    make_private_folder(archive.parent)
    with _locked(archive.parent / ".lock"):
        if class_archive.is_whole(archive):
            return False
        draft = archive.with_suffix(".draft")
        for path in archive, draft:  # of runs that were killed
            path.unlink(missing_ok=True)
        try:
            if base := class_archive.get_base(archive):
                write_base(base)
            _write(draft)
            if not class_archive.is_finished(draft):
                raise JsctlError("the JVM did not write all of its classes", "is the disk full?")
            draft.replace(archive)
            class_archive.get_size_record(archive).write_text(str(class_archive.measure(archive)))
        finally:
            _remove_old(archive.parent)
    return True


def _remove_old(folder: Path) -> None:
    """Remove all archives except the most recently used ones, and what failed and killed runs left."""
    archives = sorted(folder.glob("*.jsa"), key=lambda path: path.stat().st_mtime_ns)
    newest = {path.stem for path in archives[-_MAX_ARCHIVES:]}
    for path in folder.iterdir():
        if path.suffix in class_archive.SUFFIXES and path.stem not in newest:
            path.unlink(missing_ok=True)


def write_base(base: Path) -> None:
    """Have the JVM write the archive of its own classes. Raises JsctlError."""
    base.unlink(missing_ok=True)
    command = [str(java.find_java().path), "-Xshare:dump", f"-XX:SharedArchiveFile={base}"]
    process = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if process.returncode or not class_archive.is_finished(base):
        reason = next(iter((process.stdout + process.stderr).strip().splitlines()), "is the disk full?")
        raise JsctlError("the JVM did not write its own classes", reason)


def _write(draft: Path) -> None:
    """Run Spark once, whose JVM writes the archive when it ends."""
    with open_session(conf=FAST_START_CONF, new_archive=draft) as spark:
        work(spark)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file. Raises JsctlError when another process has it."""
    with path.open("ab") as lock:
        try:
            posix.lock(lock, wait=False)
        except BlockingIOError:
            raise JsctlError("another process makes the archive", "wait until it has ended") from None
        yield


def work(spark: "SparkSession") -> None:
    """Use Spark as commands do, with little data, so that the classes that they need are loaded."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    with temporary_folder("jsctl-spark-") as folder:
        spark.createDataFrame(_build_rows()).createOrReplaceTempView("messages")
        counts = Observation()
        frame = spark.table("messages").observe(counts, F.count(F.lit(1)).alias("rows"), F.max("sequence"))
        decoded = frame.withColumn("fields", F.from_json(F.col("data").cast("string"), "a INT, b STRING"))
        table = decoded.select(
            "sequence", "timestamp", "data", "fields.*", F.to_date("timestamp").alias("date")
        )
        for format in ("parquet", "json", "csv"):
            written = table.drop("data") if format == "csv" else table
            written.coalesce(1).write.format(format).save(write_path(Path(folder, format)))
        table.write.partitionBy("date").parquet(write_path(Path(folder, "by_date")))
        for name in ("parquet", "by_date", "json"):
            reader = spark.read.format("json" if name == "json" else "parquet")
            reader.load(read_path(Path(folder, name))).createOrReplaceTempView(name)
        spark.sql(
            "SELECT date, count(*) AS n, percentile(a, 0.5) AS middle, max_by(b, sequence) AS last,"
            " lag(max(a)) OVER (PARTITION BY date ORDER BY date) AS before"
            " FROM by_date JOIN parquet USING (date, a, b, sequence) GROUP BY date ORDER BY n"
        ).toArrow()
        spark.read.json(spark.table("messages").selectExpr("CAST(data AS STRING) AS value")).schema  # noqa: B018
        spark.dataSource.register(_Numbers)
        spark.read.format(_Numbers.name()).load().repartition(2).sortWithinPartitions("n").toArrow()
        spark.table("json").rdd.map(tuple).count()
        spark.sparkContext.parallelize(range(2), 2).map(str).collect()


def _build_rows() -> "pa.Table":
    import pyarrow as pa

    columns = {
        "sequence": pa.array(range(_ROWS), pa.int64()),
        "timestamp": pa.array([0] * _ROWS, pa.timestamp("us", tz="UTC")),
        "data": pa.array([b'{"a": 1, "b": "x"}'] * _ROWS, pa.binary()),
    }
    return pa.table(columns)


class _Numbers(DataSource):
    """A data source that is read in the same way as streams."""

    @classmethod
    def name(cls) -> str:
        return "jsctl_numbers"

    def schema(self) -> str:
        return "n long"

    def reader(self, schema: object) -> DataSourceReader:
        return _NumbersReader()


class _NumbersReader(DataSourceReader):
    def partitions(self) -> list[InputPartition]:
        return [InputPartition(part) for part in range(2)]

    def read(self, partition: InputPartition) -> "Iterator[pa.RecordBatch]":
        import pyarrow as pa

        yield pa.record_batch({"n": pa.array(range(10), pa.int64())})
