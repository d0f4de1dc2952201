"""Which Python runs the tasks of a session that `connect` is given."""

import subprocess
import sys
from pathlib import Path

import pytest

from jsctl.spark.session import java
from tests.support import js, spark_home

JOB = """
import sys
from pyspark.sql import SparkSession
import jsctl.spark

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
jsctl.spark.connect(spark, servers=sys.argv[1])
print("rows", spark.read.format("jetstream").option("stream", "ORDERS").load().count())
"""


@pytest.mark.long
@pytest.mark.spark
def test_a_script_whose_python_is_not_on_the_path(url: str, tmp_path: Path) -> None:
    spark_home.require_whole_java()
    js.stream(url, "ORDERS", "ORDERS.>", allow_direct=True)
    js.publish_all(url, [("ORDERS.new", b"one"), ("ORDERS.new", b"two")])
    (tmp_path / "job.py").write_text(JOB)
    environ = {
        "HOME": str(tmp_path),
        "PATH": "/usr/bin:/bin",
        "JAVA_HOME": str(java.find_java().path.parents[1]),
    }
    line = [sys.executable, str(tmp_path / "job.py"), url]
    done = subprocess.run(line, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "rows 2", done.stderr
