"""The example of Spark Declarative Pipelines beside this file, run as its user would."""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.support import js, spark_home

pytestmark = [
    pytest.mark.spark,
    pytest.mark.timeout(300),
    pytest.mark.skipif(find_spec("pyspark.pipelines") is None, reason="this Spark has no pipelines"),
]

EXAMPLE = Path(__file__).parent / "pipeline"


AUTO_CDC = """
dp.create_streaming_table("current")
dp.create_auto_cdc_flow(
    target="current", source="changes", keys=["key"], sequence_by="revision",
    apply_as_deletes="operation <> 'put'", except_column_list=["bucket", "operation"],
)
"""

MERGED = """
import os
from pyspark import pipelines as dp
from pyspark.sql import SparkSession

spark = SparkSession.active()

@dp.temporary_view
def changes():
    options = {"servers": os.environ["NATS_URL"], "bucket": "SETTINGS", "startingOffsets": "earliest"}
    decode = {"decode": "json", "schema": "n INT", "maxOffsetsPerTrigger": "3"}
    return spark.readStream.format("jetstream").options(**options, **decode).load()

dp.create_streaming_table("memory.tables.current")
dp.create_auto_cdc_flow(
    target="memory.tables.current", source="changes", keys=["key"], sequence_by="revision",
    apply_as_deletes="operation <> 'put'", except_column_list=["bucket", "operation"],
)

@dp.materialized_view
def result():
    return spark.read.table("memory.tables.current")
"""


def pipeline(
    project: Path, url: str, verb: str, conf: Path | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run spark-pipelines, as its user would. conf: a folder with Spark's configuration."""
    spark_home.require_whole_java()
    environ = {**os.environ, "NATS_URL": url, "PYSPARK_PYTHON": sys.executable}
    environ["SPARK_TESTING"] = "1"  # a port of its own for its Connect server
    if conf:
        environ["SPARK_CONF_DIR"] = str(conf)
    environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environ["PATH"]])
    line = [str(Path(sys.executable).parent / "spark-pipelines"), verb]
    return subprocess.run(line, cwd=project, env=environ, capture_output=True, text=True, check=False)


def run(project: Path, url: str, conf: Path | None = None) -> None:
    """Run the pipeline once, until it has processed what is there."""
    done = pipeline(project, url, "run", conf)
    assert done.returncode == 0, done.stdout + done.stderr


def copy_example(folder: Path) -> Path:
    project = folder / "project"
    shutil.copytree(EXAMPLE, project)
    spec = project / "spark-pipeline.yaml"
    spec.write_text(spec.read_text().replace("file:///tmp/orders-pipeline", (folder / "storage").as_uri()))
    return project


def change(url: str, key: str, value: bytes, operation: str = "") -> None:
    header = f"KV-Operation: {operation}\r\n" if operation else ""
    js.publish_framed(url, f"$KV.SETTINGS.{key}", f"NATS/1.0\r\n{header}\r\n".encode(), value)


@pytest.mark.long
def test_the_example(url: str, tmp_path: Path) -> None:
    project = copy_example(tmp_path)
    for name in ("ORDERS", "LARGE"):
        js.stream(url, name, f"{name.lower()}.>", allow_direct=True)

    def order(number: int) -> tuple[str, bytes]:
        return "orders.new", b'{"id": %d, "country": "nl", "price": %d}' % (number, number)

    js.publish_all(url, map(order, range(90, 115)))
    js.stream(url, "KV_SETTINGS", "$KV.SETTINGS.>", allow_direct=True, max_msgs_per_subject=5)
    change(url, "a", b"1")
    change(url, "gone", b"1")
    change(url, "a", b"2")
    change(url, "gone", b"", "DEL")
    run(project, url)
    assert js.info(url, "LARGE")["state"]["messages"] == 15
    (totals,) = pq.read_table(project / "spark-warehouse" / "totals").to_pylist()
    assert (totals["country"], totals["orders"], totals["price"]) == ("nl", 25, sum(range(90, 115)))
    (setting,) = pq.read_table(project / "spark-warehouse" / "settings").to_pylist()
    assert (setting["key"], setting["value"], setting["revision"]) == ("a", b"2", 3)


@pytest.mark.long
def test_auto_cdc_takes_the_changes_of_a_bucket(url: str, tmp_path: Path) -> None:
    """Up to its target, which `test_auto_cdc_merges_the_changes_of_a_bucket` has: a dry run looks at the keys
    and columns of the source."""
    pipelines = pytest.importorskip("pyspark.pipelines")
    if not hasattr(pipelines, "create_auto_cdc_flow"):
        pytest.skip("Auto CDC came with Spark 4.3")
    js.stream(url, "KV_SETTINGS", "$KV.SETTINGS.>", allow_direct=True, max_msgs_per_subject=5)
    project = copy_example(tmp_path)
    (project / "transformations" / "orders.py").unlink()
    with (project / "transformations" / "settings.py").open("a") as file:
        file.write(AUTO_CDC)
    valid = pipeline(project, url, "dry-run")
    assert valid.returncode == 0, valid.stdout + valid.stderr


@pytest.mark.timeout(900)
@pytest.mark.skipif("JSCTL_CATALYST_TESTS" not in os.environ, reason="JSCTL_CATALYST_TESTS is not set")
def test_auto_cdc_merges_the_changes_of_a_bucket(url: str, tmp_path: Path) -> None:
    """Spark's own tables have no MERGE, but those of the catalog have that its tests use.

    They are in the memory of the pipeline's JVM, so that a view in the same run has to read them.
    """
    js.stream(url, "KV_SETTINGS", "$KV.SETTINGS.>", allow_direct=True, max_msgs_per_subject=5)
    for key, value, operation in (
        ("a", b'{"n": 1}', ""),
        ("gone", b'{"n": 1}', ""),
        ("back", b'{"n": 1}', ""),
        ("back", b"", "DEL"),
        ("a", b'{"n": 2}', ""),
        ("gone", b"", "PURGE"),
        ("back", b'{"n": 3}', ""),
        ("bad", b"no JSON", ""),
    ):
        change(url, key, value, operation)
    project = copy_example(tmp_path)
    (project / "transformations" / "orders.py").unlink()
    (project / "transformations" / "settings.py").write_text(MERGED)
    run(project, url, conf_folder(tmp_path))
    merged = pq.read_table(project / "spark-warehouse" / "result").sort_by("revision").to_pylist()
    assert [(row["key"], row["n"], row["revision"], row["bad_payload"]) for row in merged] == [
        ("a", 2, 5, None),
        ("back", 3, 7, None),
        ("bad", None, 8, b"no JSON"),
    ]


def conf_folder(folder: Path) -> Path:
    """Make a folder with the configuration of a Spark whose catalog `memory` has tables with MERGE."""
    conf = folder / "conf"
    conf.mkdir()
    catalog = "org.apache.spark.sql.connector.catalog.SharedTablesInMemoryRowLevelOperationTableCatalog"
    settings = {
        "spark.driver.extraClassPath": os.environ["JSCTL_CATALYST_TESTS"],
        "spark.sql.catalog.memory": catalog,
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
    }
    lines = [f"{name} {value}\n" for name, value in settings.items()]
    (conf / "spark-defaults.conf").write_text("".join(lines))
    return conf
