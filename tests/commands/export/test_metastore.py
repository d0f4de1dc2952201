"""Exports to tables of a metastore: Hive's, in a folder, as Spark has it without a server."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.commands.export.test_stream import fill
from tests.support import js
from tests.support.run import Cli

pytestmark = [pytest.mark.spark, pytest.mark.long, pytest.mark.timeout(600)]

KEPT = ("--conf", "spark.sql.catalogImplementation=hive")


def test_tables_outlive_the_session(cli: Cli, url: str, tmp_path: Path) -> None:
    """The rows are below the folder in which jsctl ran, as those of Spark are, and every append counts what
    it added."""
    fill(url, 8)
    js.bucket(url, "B")
    js.publish(url, "$KV.B.a")

    def export(*words: str, status: int = 0) -> Any:
        line = ["export", *words, "--format", "parquet", *KEPT, "--json"]
        process = cli.start(line, cwd=tmp_path)
        out, err = process.communicate(timeout=300)
        assert process.returncode == status, err
        return out or err

    orders = ("stream", "ORDERS", "--table", "default.orders")
    assert '"exported": 8,' in export(*orders)
    for _ in range(2):
        done = export(*orders, "--mode", "append", "--to-seq", "3")
        assert '"exported": 3,' in done and '"deleted": 0,' in done
    assert "--force" in export(*orders, status=64)
    assert "--verify cannot be used with --table in parquet" in export(*orders, "--verify", status=64)
    export("kv", "B", "--table", "default.config")
    table = pq.read_table(tmp_path / "spark-warehouse" / "orders")
    assert sorted(table["sequence"].to_pylist()) == sorted([*range(1, 9), 1, 2, 3, 1, 2, 3])
    assert pq.read_table(tmp_path / "spark-warehouse" / "config").num_rows == 1
    assert {file.name for file in tmp_path.iterdir()} == {"spark-warehouse", "metastore_db"}
