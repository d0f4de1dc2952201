"""`export query`, with a real Spark."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.commands.export.conftest import Lake
from tests.support.cases import sample
from tests.support.run import Cli
from tests.support.tables import read_table

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
    [row] = read_table(shown.out)
    assert row == {"stream": "ORDERS", "messages": "2", "bytes": row["bytes"]}
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
    assert done["rows"].pop("accounts") == 1
    assert set(done["rows"].values()) == {0}
    ask = ["export", "query", "--from", str(to), "SELECT max(lag) AS lag FROM replication", "--json"]
    assert cli(ask, status=0).json == [{"lag": None}]


def table(folder: Path, name: str, numbers: list[int]) -> Path:
    (folder / name).mkdir(parents=True)
    pq.write_table(pa.table({"n": numbers}), folder / name / "a.parquet")
    return folder


def test_show_and_describe(offline_cli: Cli, spark: Any, tmp_path: Path) -> None:
    ask = ["export", "query", "--json", "--from", str(table(tmp_path / "data", "numbers", [1]))]
    (shown,) = offline_cli([*ask, "SHOW TABLES;"], status=0).json
    assert (shown["tableName"], shown["isTemporary"]) == ("numbers", True)
    for sql in ("DESCRIBE numbers", "desc TABLE numbers", "DESCRIBE QUERY SELECT n FROM numbers"):
        (column,) = offline_cli([*ask, sql], status=0).json
        assert (column["col_name"], column["data_type"]) == ("n", "bigint")
    for sql, words in (
        ("DROP VIEW numbers", "is not a SELECT; use one SELECT, SHOW TABLES or DESCRIBE"),
        ("SHOW TABLES; DROP VIEW numbers", "is not valid SQL"),
        ("DESCRIBE none", "the tables are numbers"),
    ):
        wrong = offline_cli([part for part in (*ask, sql) if part != "--json"], status=64).err
        assert words in wrong
        assert wrong.count("\n") == 1


def test_several_exports(offline_cli: Cli, spark: Any, tmp_path: Path) -> None:
    eu, us = table(tmp_path / "e=u", "numbers", [1, 2]), table(tmp_path / "us", "numbers", [3])
    sql = "SELECT sum(n) AS n FROM (SELECT * FROM numbers UNION ALL SELECT * FROM us_numbers)"
    folders = ["--from", str(eu), "--from", f"us={us}"]
    assert offline_cli(["export", "query", *folders, sql, "--json"], status=0).json == [{"n": 6}]
    named = ["--from", f"eu={eu}", "--from", f"us={us}", "SHOW TABLES", "--json"]
    shown = offline_cli(["export", "query", *named], status=0).json
    assert [row["tableName"] for row in shown] == ["eu_numbers", "us_numbers"]
    twice = offline_cli(["export", "query", "--from", str(eu), "--from", str(us), "SELECT 1"], status=64).err
    assert "--from is given twice without a name; name them: --from eu=DIR --from us=DIR" in twice


@pytest.mark.parametrize("format", sample(["parquet", "json", "csv"], 2))
def test_results_are_written(offline_cli: Cli, spark: Any, tmp_path: Path, format: str) -> None:
    data, to = table(tmp_path / "data", "numbers", list(range(3000))), tmp_path / "to"
    line = ["export", "query", "--from", str(data), "--to", str(to), "--format", format]
    done = offline_cli([*line, "SELECT n, n * 2 AS m FROM numbers"], status=0)
    assert done.out.startswith(f"wrote 3,000 rows to {to}/results in ")  # more than --limit
    ask = ["export", "query", "--from", str(to), "SELECT count(*) AS n, sum(m) AS m FROM results", "--json"]
    assert offline_cli(ask, status=0).json == [{"n": 3000, "m": 2999 * 3000}]
    refused = offline_cli([*line, "SELECT 1 AS n"], status=64).err
    assert "has results already; name another folder, or use --overwrite" in refused
    wrong = offline_cli([*line, "--overwrite", "SELECT no FROM numbers"], status=64)
    assert "cannot be resolved" in wrong.err and wrong.err.count("\n") == 1
    assert offline_cli(ask, status=0).json == [{"n": 3000, "m": 2999 * 3000}]
    done = offline_cli([*line, "--overwrite", "SELECT 1 AS m FROM numbers WHERE false", "--json"], status=0)
    assert done.json["rows"] == {"results": 0}
    assert offline_cli(ask, status=0).json == [{"n": 0, "m": None}]
    assert "is the result of a query" in offline_cli(f"import {to}/results --stream S", status=64).err


def test_results_in_an_object_store(offline_cli: Cli, spark: Any, lake: Lake) -> None:
    data, to = table(lake.folder / "data", "numbers", [1, 2, 3]), f"{lake.root}/to"
    line = ["export", "query", "--from", str(data), "--to", to, "--json"]
    assert offline_cli([*line, "SELECT n FROM numbers"], status=0).json["rows"] == {"results": 3}
    assert "--overwrite" in offline_cli([*line, "SELECT n FROM numbers"], status=64).err
    assert offline_cli([*line, "SELECT 1 AS n", "--overwrite"], status=0).json["rows"] == {"results": 1}
    ask = ["export", "query", "--from", to, "SELECT n FROM results", "--json"]
    assert offline_cli(ask, status=0).json == [{"n": 1}]
