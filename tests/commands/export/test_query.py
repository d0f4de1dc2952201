"""`export query`, with a real Spark."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.run import Cli

pytestmark = pytest.mark.spark


def broken_table(tmp_path: Path) -> Path:
    folder = tmp_path / "tables"
    (folder / "t").mkdir(parents=True, exist_ok=True)
    (folder / "t" / "a.parquet").touch()
    return folder


def test_query_shows_a_table(streams: Cli, spark: Any, tmp_path: Path) -> None:
    to = tmp_path / "reports"
    streams(f"export reports --to {to}", status=0)
    ask = ["export", "query", "--from", str(to)]
    shown = streams([*ask, "SELECT stream, messages, bytes FROM streams WHERE stream = 'ORDERS'"], status=0)
    assert shown.out.splitlines()[0].split() == ["stream", "messages", "bytes"]
    assert shown.out.splitlines()[1].split()[:2] == ["ORDERS", "2"]
    boxed = streams([*ask, "SELECT stream FROM streams WHERE stream = 'ORDERS'"], tty=True, status=0)
    assert "│ ORDERS │" in boxed.out
    assert streams([*ask, "SELECT * FROM streams WHERE false"], status=0).out == "no rows\n"
    some = streams([*ask, "SELECT stream FROM streams", "--limit", "1"], status=0)
    assert len(some.out.splitlines()) == 2
    assert "the output ends after 1 row" in some.err
    joined = "SELECT count(*) AS n FROM streams s JOIN replication r ON s.stream = r.origin"
    assert streams([*ask, joined, "--json"], status=0).json == [{"n": 1}]


def test_query_in_one_line_when_it_is_wrong(streams: Cli, spark: Any, tmp_path: Path) -> None:
    to = tmp_path / "reports"
    streams(f"export reports --to {to}", status=0)
    wrong = streams(["export", "query", "--from", str(to), "SELECT * FROM stream"], status=64)
    assert wrong.err.count("\n") == 1
    assert "`stream` cannot be found" in wrong.err
    assert "the tables are streams, replication" in wrong.err
    assert "there is no folder" in streams(f"export query --from {tmp_path}/no 'SELECT 1'", status=3).err
    (tmp_path / "empty").mkdir()
    assert "holds no tables" in streams(f"export query --from {tmp_path}/empty 'SELECT 1'", status=3).err
    broken = streams(f"export query --from {broken_table(tmp_path)} 'SELECT 1'", status=1)
    assert "Spark cannot read" in broken.err
    assert broken.err.count("\n") == 1


def test_tables_that_others_made_can_be_asked(offline_cli: Cli, spark: Any, tmp_path: Path) -> None:
    (tmp_path / "data" / "numbers").mkdir(parents=True)
    pq.write_table(pa.table({"n": [1, 2, 3]}), tmp_path / "data" / "numbers" / "a.parquet")
    ask = ["export", "query", "--from", str(tmp_path / "data"), "SELECT sum(n) AS total FROM numbers"]
    assert offline_cli([*ask, "--json"], status=0).json == [{"total": 6}]


def test_a_domain_without_replication_has_an_empty_table(cli: Cli, spark: Any, tmp_path: Path) -> None:
    to = tmp_path / "reports"
    done = cli(f"export reports --to {to} --json", status=0).json
    assert set(done["rows"].values()) == {0}
    ask = ["export", "query", "--from", str(to), "SELECT max(lag) AS lag FROM replication", "--json"]
    assert cli(ask, status=0).json == [{"lag": None}]
