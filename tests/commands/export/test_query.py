"""`export query`, with a real Spark."""

import csv
import io
import json
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


VALUES = [
    ("1.50BD", "1.50", "1.50"),
    ("12345678901234567890123456789012345678BD", "12345678901234567890123456789012345678", ""),
    ("CAST(1e-7 AS DECIMAL(38,10))", "1.000E-7", "0.0000001000"),
    ("float(0.1)", "0.1", "0.1"),
    ("array(float(0.1), float('nan'))", '[0.1, "NaN"]', ""),
    ("double('-inf')", '"-Infinity"', "-Infinity"),
    ("interval '1-2' year to month", "\"INTERVAL '1-2' YEAR TO MONTH\"", ""),
    ("array(interval 1 day)", "[\"INTERVAL '1' DAY\"]", ""),
    ("make_interval(1, 2)", '"1 years 2 months"', "1 years 2 months"),
    ("array()", "[]", "[]"),
    ("map()", "{}", "{}"),
    ("map(date'2026-11-21', array(1))", '{"2026-11-21": [1]}', ""),
    ("map(1, null)", '{"1": null}', ""),
    ("struct(1 AS a, 2 AS a, 3 AS b)", '{"a": 1, "a_2": 2, "b": 3}', ""),
    ("parse_json('{\"p\": 12345678901234567890.123456789}')", '{"p": 12345678901234567890.123456789}', ""),
    ("array(parse_json('[1.10]'), try_parse_json('x'))", "[[1.1], null]", ""),
    ("map('k', parse_json('\"s\"'))", '{"k": "s"}', ""),
    ("parse_json('[1e23]')", "[1e+23]", ""),
    ("array(1e23D)", "[1e+23]", ""),
    ("array(CAST('1.23456789012345678901e-7' AS DECIMAL(38,30)))", "[1.23456789012345678901000E-7]", ""),
    ("try_parse_json('x')", "null", ""),
    ("date'+10000-01-01'", '"+10000-01-01"', "+10000-01-01"),
    ("struct(timestamp'2026-11-21 06:57:05.123456')", '{"col1": "2026-11-21T06:57:05.123456+00:00"}', ""),
    ("time'06:57:05'", '"06:57:05"', "06:57:05"),
    ("array(x'61')", '["YQ=="]', ""),
]
"""Expressions of SQL, and their values in JSON and, where that is not the same, in a table."""


def test_values_in_json_csv_and_tables(offline_cli: Cli, spark: Any, tmp_path: Path) -> None:
    ask = ["export", "query", "--from", str(table(tmp_path / "data", "numbers", [1]))]
    sql = "SELECT " + ", ".join(f"{value} AS c{at}" for at, (value, _, _) in enumerate(VALUES))
    text = offline_cli([*ask, sql, "--json"], status=0).out
    (row,) = json.loads(text, parse_float=str, parse_int=str)
    expected = [json.loads(value, parse_float=str, parse_int=str) for _, value, _ in VALUES]
    assert list(row.values()) == expected
    (cells,) = csv.DictReader(io.StringIO(offline_cli([*ask, sql, "--as", "csv"], status=0).out))
    assert [cells[name] for name in ("c3", "c4", "c5", "c13")] == [
        "0.1",
        '[0.1, "NaN"]',
        "-Infinity",
        VALUES[13][1],
    ]
    for value, as_json, shown in VALUES:
        if value == "try_parse_json('x')":
            continue  # an empty cell
        head, line = offline_cli([*ask, f"SELECT {value} AS c"], status=0).out.splitlines()
        assert (head.strip(), line.strip()) == ("c", shown or as_json.strip('"'))


def test_equal_names(offline_cli: Cli, spark: Any, tmp_path: Path) -> None:
    ask = ["export", "query", "--from", str(table(tmp_path / "data", "numbers", [1])), "--json"]
    sql = "SELECT 1 AS a, 2 AS a, 3 AS a_2, 4 AS A FROM numbers"
    assert offline_cli([*ask, sql], status=0).json == [{"a": 1, "a_3": 2, "a_2": 3, "A": 4}]
    sql = "SELECT * FROM numbers x JOIN numbers y ON x.n = y.n"
    assert offline_cli([*ask, sql], status=0).json == [{"n": 1, "n_2": 1}]
    done = offline_cli([*ask, sql, "--to", f"{tmp_path}/to"], status=0)
    assert done.json["rows"] == {"results": 1}
    back = ["export", "query", "--from", f"{tmp_path}/to", "--json", "SELECT * FROM results"]
    assert offline_cli(back, status=0).json == [{"n": 1, "n_2": 1}]


@pytest.mark.parametrize(
    "sql",
    [
        "VALUES (1)",
        "FROM numbers SELECT n",
        "TABLE numbers",
        "WITH x AS (SELECT 1 AS n) SELECT * FROM x",
        "(SELECT n FROM numbers) UNION (SELECT 1)",
        "FROM numbers |> WHERE n = 1",
        "/* first */ -- second\nSELECT n FROM numbers -- last\n;",
        "/* first */ SHOW VIEWS",
        "SHOW FUNCTIONS LIKE 'abs'",
    ],
)
def test_sql_that_only_reads(offline_cli: Cli, spark: Any, tmp_path: Path, sql: str) -> None:
    ask = ["export", "query", "--from", str(table(tmp_path / "data", "numbers", [1])), "--json", sql]
    assert len(offline_cli(ask, status=0).json) == 1


@pytest.mark.parametrize("sql", ["SELECT 1/0", "SELECT nope FROM numbers", "SELECT abs('x') FROM numbers"])
def test_a_hint_about_tables_only_where_one_is_missing(
    offline_cli: Cli, spark: Any, tmp_path: Path, sql: str
) -> None:
    ask = ["export", "query", "--from", str(table(tmp_path / "data", "numbers", [1])), sql]
    wrong = offline_cli(ask, status=64).err
    assert "Spark refuses the query: " in wrong and "the tables are" not in wrong


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
