"""`jsctl export compact`, and how large and how sorted files are from the beginning."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.commands.export.conftest import Lake
from tests.commands.export.test_stream import fill, sequences
from tests.support.cases import sample
from tests.support.run import Cli

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]


def files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.parquet"))


@pytest.mark.parametrize("flags", sample(["--partition-by subject:2", ""], 2))
def test_many_files_become_few(cli: Cli, url: str, spark: Any, tmp_path: Path, flags: str) -> None:
    line = f"export stream ORDERS --to {tmp_path}/x --incremental {flags}"
    for _ in range(3):
        fill(url, 6)
        cli(line, status=0)
    table = tmp_path / "x" / "ORDERS"
    before = len(files(table))
    done = cli(f"export compact --to {tmp_path}/x --json", status=0).json
    after = 3 if flags else 1
    (compacted,) = done["tables"]
    assert (compacted["files_before"], compacted["files"], compacted["rows"]) == (before, after, 18)
    assert len(files(table)) == after and sequences(table) == list(range(1, 19))
    assert "as it was" in cli(f"export compact ORDERS --to {tmp_path}/x", status=0).out
    fill(url, 2)
    assert cli(f"{line} --verify --json", status=0).json["exported"] == 2
    assert "has no table NONE; it has ORDERS" in cli(f"export compact NONE --to {tmp_path}/x", status=3).err
    assert "holds no export" in cli(f"export compact --to {tmp_path}", status=3).err
    assert "must be 1 or more" in cli(f"export compact --to {tmp_path}/x --file-size 0", status=64).err


def test_a_table_in_an_object_store(cli: Cli, url: str, spark: Any, lake: Lake) -> None:
    for _ in range(3):
        fill(url, 4)
        cli(f"export stream ORDERS --to {lake.root}/x --incremental", status=0)
    table = lake.folder / "x" / "ORDERS"
    assert len(files(table)) == 3
    cli(f"export compact --to {lake.root}/x", status=0)
    assert len(files(table)) == 1 and sequences(table) == list(range(1, 13))
    fill(url, 1)
    cli(f"export stream ORDERS --to {lake.root}/x --incremental --verify", status=0)
    assert sequences(table) == list(range(1, 14))


def test_size_and_order_of_files(cli: Cli, url: str, spark: Any, tmp_path: Path) -> None:
    fill(url, 3000, payload=b"x" * 100)
    cli(f"export stream ORDERS --to {tmp_path}/x --file-size 64k --sort-by subject --verify", status=0)
    table = tmp_path / "x" / "ORDERS"
    assert len(files(table)) >= 4 and sequences(table) == list(range(1, 3001))
    for file in files(table):
        rows = pq.read_table(file, columns=["subject", "sequence"]).to_pylist()
        assert rows == sorted(rows, key=lambda row: (row["subject"], row["sequence"]))
    assert "must be 1 or more" in cli(f"export stream ORDERS --to {tmp_path}/y --file-size -1", status=64).err
