"""The example of Spark Declarative Pipelines beside this file, run as its user would."""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.support import js

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("pyspark.pipelines") is None, reason="this Spark has no pipelines"),
]

EXAMPLE = Path(__file__).parent / "pipeline"


def run(project: Path, url: str) -> None:
    """Run the pipeline once, until it has processed what is there."""
    environ = {**os.environ, "NATS_URL": url, "PYSPARK_PYTHON": sys.executable}
    environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environ["PATH"]])
    line = [str(Path(sys.executable).parent / "spark-pipelines"), "run"]
    done = subprocess.run(line, cwd=project, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.long
def test_the_example(url: str, tmp_path: Path) -> None:
    project = tmp_path / "project"
    shutil.copytree(EXAMPLE, project)
    spec = project / "spark-pipeline.yaml"
    text = spec.read_text().replace("file:///tmp/orders-pipeline", (tmp_path / "storage").as_uri())
    spec.write_text(text)
    for name in ("ORDERS", "LARGE"):
        js.stream(url, name, f"{name.lower()}.>", allow_direct=True)

    def order(number: int) -> tuple[str, bytes]:
        return "orders.new", b'{"id": %d, "country": "nl", "price": %d}' % (number, number)

    js.publish_all(url, map(order, range(90, 115)))
    run(project, url)
    assert js.info(url, "LARGE")["state"]["messages"] == 15
    (totals,) = pq.read_table(project / "spark-warehouse" / "totals").to_pylist()
    assert (totals["country"], totals["orders"], totals["price"]) == ("nl", 25, sum(range(90, 115)))
