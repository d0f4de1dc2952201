"""Exports to tables of catalogs, in formats that have a release for the PySpark that runs the tests: Delta
for 4.2 (and 4.1), Iceberg for 4.1. The packages are from Maven Central the first time."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pyspark
import pytest
from pyarrow.fs import FileSelector

from jsctl.errors import JsctlError
from jsctl.spark.export.catalog_table import OF_STREAM, CatalogTable, TableChanged
from jsctl.spark.export.table_target import TableTarget
from jsctl.spark.session.packages import FORMAT_PACKAGES, FORMAT_SETTINGS
from tests.commands.export.test_stream import fill
from tests.support import js
from tests.support.run import Cli
from tests.support.s3 import LOGIN, serve_s3
from tests.support.waiting import wait_for

pytestmark = [pytest.mark.spark, pytest.mark.long, pytest.mark.timeout(1800)]

MINOR = ".".join(pyspark.__version__.split(".")[:2])


class Tables:
    """Where the tables of a format are, and the flags with which jsctl finds them."""

    def __init__(self, format: str, folder: Path) -> None:
        self.format = format
        self.folder = folder
        self.settings = {"spark.driver.memory": "1g", **FORMAT_SETTINGS[format]}
        if format == "iceberg":
            self.settings |= {
                "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
                "spark.sql.catalog.lake.type": "hadoop",
                "spark.sql.catalog.lake.warehouse": str(folder),
            }
        self.flags = ["--format", format, *self.confs()]

    def confs(self) -> list[str]:
        return [word for key, value in self.settings.items() for word in ("--conf", f"{key}={value}")]

    def name(self, table: str) -> str:
        return f"lake.db.{table}" if self.format == "iceberg" else f"delta.`{self.folder / table}`"


def build_tables(format: str, folder: Path) -> Tables:
    if MINOR not in FORMAT_PACKAGES[format]:
        pytest.skip(
            f"{format} has no release for Spark {MINOR}: it has for {', '.join(FORMAT_PACKAGES[format])}"
        )
    return Tables(format, folder)


@pytest.fixture(scope="module", params=["delta", "iceberg"])
def tables(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tables]:
    """A session that knows the format; commands that are called in this process use it, too."""
    from jsctl.spark.session.session import open_session

    tables = build_tables(request.param, tmp_path_factory.mktemp("tables"))
    packages = FORMAT_PACKAGES[tables.format][MINOR]
    try:
        with open_session(conf={**tables.settings, "spark.jars.packages": packages}) as spark:
            tables.spark = spark  # type: ignore[attr-defined]
            yield tables
    except JsctlError as error:
        if "unresolved dependency" not in str(error):
            raise
        pytest.skip(f"{packages} is not here and Maven Central cannot be reached")


def rows(tables: Tables, table: str, columns: str = "sequence") -> list[Any]:
    spark = tables.spark  # type: ignore[attr-defined]
    if tables.format == "iceberg":
        spark.catalog.refreshTable(tables.name(table))
    found = spark.sql(f"SELECT {columns} FROM {tables.name(table)}").collect()
    return sorted(row[0] if len(row) == 1 else tuple(row) for row in found)


def export(
    cli: Cli, tables: Tables, table: str, *words: str, what: str = "stream ORDERS", status: int = 0
) -> Any:
    line = ["export", *what.split(), "--table", tables.name(table), *tables.flags, *words, "--json"]
    return cli(line, status=status)


def test_a_stream_in_parts(cli: Cli, url: str, tables: Tables) -> None:
    fill(url, 20)
    done = export(cli, tables, "parts", "--incremental", "--to-seq", "8").json
    assert done["streams"][0]["exported"] == 8
    done = export(cli, tables, "parts", "--incremental", "--verify").json
    assert done["streams"][0]["exported"] == 12 and rows(tables, "parts") == list(range(1, 21))
    assert export(cli, tables, "parts", "--mode", "append").json["streams"][0]["exported"] == 0
    assert "--force" in export(cli, tables, "parts", status=64).err
    again = export(
        cli, tables, "parts", "--mode", "overwrite", "--force", "--to-seq", "5", "--partition-by", "date"
    )
    assert again.json["streams"][0]["exported"] == 5 and rows(tables, "parts") == [1, 2, 3, 4, 5]
    export(cli, tables, "parts", "--incremental", "--partition-by", "date", "--verify")
    assert rows(tables, "parts") == list(range(1, 21))

    # A second stream goes into the same table, with a position of its own.
    fill(url, 4, "OTHER")
    export(cli, tables, "parts", "--mode", "append", "--partition-by", "date", what="stream OTHER")
    fill(url, 1)
    export(cli, tables, "parts", "--mode", "append", "--partition-by", "date")
    expected = [*(("ORDERS", n) for n in range(1, 22)), *(("OTHER", n) for n in range(1, 5))]
    assert rows(tables, "parts", "stream, sequence") == expected


needs_decoding = pytest.mark.skipif(MINOR < "4.2", reason="jsctl decodes payloads with PySpark from 4.2 on")


@needs_decoding
def test_new_fields_and_a_query(cli: Cli, url: str, tables: Tables) -> None:
    fill(url, 2)
    export(cli, tables, "decoded", "--incremental", "--decode", "json")
    fill(url, 1, payload=b'{"id": %d, "at": {"x": 1}}')
    export(cli, tables, "decoded", "--incremental", "--decode", "json")
    fill(url, 1, payload=b'{"id": %d, "at": {"x": 1, "y": "b"}}')
    sql = f"SELECT id, at.y FROM {tables.name('decoded')} WHERE sequence = 4"
    done = export(cli, tables, "decoded", "--incremental", "--decode", "json", "--verify", "--query", sql)
    assert done.json["query"] == [{"id": 4, "y": "b"}]


def test_a_backfill(cli: Cli, url: str, tables: Tables) -> None:
    """It merges a range in one commit, and the position stays where it was."""
    fill(url, 10)
    export(cli, tables, "filled", "--incremental")
    fill(url, 3, "OTHER")
    export(cli, tables, "filled", "--mode", "append", what="stream OTHER")
    spark = tables.spark  # type: ignore[attr-defined]
    name = tables.name("filled")
    history = f"DESCRIBE HISTORY {name}" if tables.format == "delta" else f"SELECT * FROM {name}.snapshots"
    commits = spark.sql(history).count()
    spark.sql(f"UPDATE {name} SET data = binary('wrong') WHERE sequence IN (2, 3, 9)")
    js.ask(url, "STREAM.MSG.DELETE.ORDERS", {"seq": 3})
    done = export(cli, tables, "filled", "--backfill", "--from-seq", "1", "--to-seq", "5").json
    assert done["streams"][0]["exported"] == 5  # with the one that is only here
    found = dict(rows(tables, "filled", "stream || sequence, string(data)"))
    assert len(found) == 13 and len(rows(tables, "filled")) == 13
    assert {key for key, value in found.items() if value == "wrong"} == {
        "ORDERS3",
        "ORDERS9",
        "OTHER2",
        "OTHER3",
    }
    if tables.format == "iceberg":
        spark.catalog.refreshTable(name)
    assert spark.sql(history).count() == commits + 2
    fill(url, 2)
    assert export(cli, tables, "filled", "--incremental").json["streams"][0]["exported"] == 2
    assert len(rows(tables, "filled")) == 15
    refused = export(cli, tables, "filled", "--incremental", "--from-seq", "1", status=64).err
    assert "say where a new one begins" in refused


@needs_decoding
def test_what_fails_before_anything_is_written(cli: Cli, url: str, tables: Tables) -> None:
    fill(url, 3, payload=b"no json")
    name = tables.name("never")
    asked = export(cli, tables, "never", "--query", "SELECT * FROM ORDERS", status=64).err
    assert "--query names ORDERS, which is no table" in asked and "the export writes " in asked
    flags = ("--decode", "variant", "--fail-on-bad", "3")
    assert "3 payloads of ORDERS cannot be decoded" in export(cli, tables, "never", *flags, status=1).err
    assert CatalogTable(name, tables.format, tables.spark).find() is None  # type: ignore[attr-defined]
    sql = f"SELECT count(*) AS n FROM {name} WHERE bad_payload IS NOT NULL"
    flags = ("--decode", "variant", "--fail-on-bad", "4")
    assert export(cli, tables, "never", *flags, "--query", sql).json["query"] == [{"n": 3}]


def test_set_back(cli: Cli, url: str, tables: Tables) -> None:
    """A table that is set back to an earlier version is exported again from there."""
    fill(url, 10)
    export(cli, tables, "back", "--incremental", "--to-seq", "4")
    spark = tables.spark  # type: ignore[attr-defined]
    name = tables.name("back")
    if tables.format == "iceberg":
        snapshot = spark.sql(f"SELECT snapshot_id FROM {name}.history").collect()[0][0]
    export(cli, tables, "back", "--incremental", "--to-seq", "7")
    if tables.format == "iceberg":
        spark.sql(f"CALL lake.system.rollback_to_snapshot('db.back', {snapshot})")
    else:
        spark.sql(f"RESTORE TABLE {name} TO VERSION AS OF 0")
    assert rows(tables, "back") == [1, 2, 3, 4]
    assert export(cli, tables, "back", "--incremental").json["streams"][0]["exported"] == 6
    assert rows(tables, "back") == list(range(1, 11))


def test_two_that_planned_the_same(tables: Tables) -> None:
    """Of two runs that read the same position one is refused, whenever they write."""
    spark = tables.spark  # type: ignore[attr-defined]

    def target() -> TableTarget:
        made = TableTarget(tables.name("two"), tables.format, "append", "ORDERS", OF_STREAM)
        made.connect(spark)
        return made

    def write(target: TableTarget, start: int, end: int) -> None:
        with target.commit("ORDERS") as (table, checkpoint):
            checkpoint |= {"from": 1, "next": end}
            frame = spark.range(start, end).selectExpr("'ORDERS' AS stream", "id AS sequence")
            table.write(frame, [])

    first = target()
    write(first, 1, 4)
    early, late = target(), target()
    assert early.position.checkpoint["next"] == late.position.checkpoint["next"] == 4
    write(early, 4, 6)
    with pytest.raises(TableChanged, match="run it again"):
        write(late, 4, 9)
    assert rows(tables, "two") == [1, 2, 3, 4, 5]
    write(late, 6, 9)  # it planned anew
    assert rows(tables, "two") == list(range(1, 9))
    assert CatalogTable(tables.name("none"), tables.format, spark).find() is None


def test_buckets(cli: Cli, url: str, tables: Tables) -> None:
    js.stream(url, "KV_B", "$KV.B.>", allow_direct=True, max_msgs_per_subject=5)
    what = "kv B"
    js.publish_all(url, [("$KV.B.a", b"1"), ("$KV.B.b", b"2"), ("$KV.B.c", b"3")])
    export(cli, tables, "merged", "--mode", "merge", what=what)
    js.publish_all(url, [("$KV.B.a", b"4"), ("$KV.B.d", b"5")])
    js.ask(url, "STREAM.PURGE.KV_B", {"filter": "$KV.B.c"})
    export(cli, tables, "merged", "--mode", "merge", what=what)
    now = [("a", b"4", 4), ("b", b"2", 2), ("d", b"5", 5)]
    assert [(k, bytes(v), r) for k, v, r in rows(tables, "merged", "key, value, revision")] == now
    export(cli, tables, "merged", "--mode", "merge", what=what)
    assert len(rows(tables, "merged", "key")) == 3
    line = [
        "export",
        "kv",
        "B",
        "--key",
        "a",
        "--table",
        tables.name("merged"),
        *tables.flags,
        "--mode",
        "merge",
    ]
    cli(line, status=0)
    assert len(rows(tables, "merged", "key")) == 3  # the others were not asked for
    export(cli, tables, "changes", "--mode", "append", "--history", what=what)
    js.publish_all(url, [("$KV.B.a", b"6")])
    export(cli, tables, "changes", "--mode", "append", "--history", what=what)
    assert rows(tables, "changes", "revision") == [1, 2, 4, 5, 6]


@pytest.mark.parametrize("format", ["delta", "iceberg"])
def test_killed(cli: Cli, url: str, tmp_path: Path, format: str) -> None:
    """Killed at random moments, two at once, and followed: each message is in the table once."""
    tables = build_tables(format, tmp_path / "tables")
    fill(url, 20_000)
    random = Random(7)
    words = ["--packages", "auto", "--table", tables.name("k"), *tables.flags, "--incremental"]

    def start(*more: str) -> "subprocess.Popen[str]":
        line = [sys.executable, "-m", "jsctl", "export", "stream", "ORDERS", *words, *more]
        environ = {**os.environ, **cli.environ, "HOME": str(Path.home()), "SPARK_HOME": ""}
        return subprocess.Popen(line, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(*more: str) -> str:
        process = start(*more)
        out, err = process.communicate(timeout=900)
        assert process.returncode == 0, err
        return out

    begin = time.monotonic()
    run("--to-seq", "1000")
    took = time.monotonic() - begin
    for _ in range(int(os.environ.get("JSCTL_CHAOS", "3"))):
        process = start()
        time.sleep(random.uniform(0.3, 1.0) * took)
        process.kill()
        process.communicate()
        fill(url, 1000)
    pair = [start() for _ in range(2)]
    for process in pair:
        _, err = process.communicate(timeout=900)
        assert process.returncode == 0 or "run it again" in err, err
    run("--verify")
    counted = run(
        "--query", f"SELECT count(*), count(DISTINCT sequence), max(sequence) FROM {tables.name('k')}"
    )
    last = js.info(url, "ORDERS")["state"]["last_seq"]
    assert counted.count(f"{last:,}") >= 3, counted


@pytest.mark.parametrize("format", ["delta", "iceberg"])
def test_followed_on_s3(cli: Cli, url: str, tmp_path: Path, format: str) -> None:
    """Packages of the table's file system come by themselves, too."""
    tables = build_tables(format, tmp_path / "tables")
    tables.settings = {
        name: "s3a://lake/tables" if name.endswith("warehouse") else value
        for name, value in tables.settings.items()
    }
    name = "lake.db.f" if format == "iceberg" else "delta.`s3a://lake/f`"
    fill(url, 100)
    with serve_s3(tmp_path / "s3.log") as store:
        line = ["export", "stream", "ORDERS", "--table", name, "--format", format, "--mode", "append"]
        line += [*tables.confs(), *store.settings]
        environ = {**LOGIN, "HOME": str(Path.home()), "SPARK_HOME": ""}

        def count_files() -> int:
            found = store.files.get_file_info(FileSelector("lake", recursive=True))
            return sum(file.path.endswith(".parquet") for file in found)

        following = cli.start([*line, "--follow", "--every", "1s"], environ=environ)
        assert following.stderr
        assert "following" in following.stderr.readline()
        files = count_files()
        fill(url, 50)
        wait_for(lambda: count_files() > files, "nothing was added", 120)
        following.send_signal(signal.SIGINT)
        out, err = following.communicate(timeout=120)
        assert following.returncode == 0 and out.startswith("exported 1") and not err, out + err
        sql = f"SELECT count(*), count(DISTINCT sequence), max(sequence) FROM {name}"
        done = cli.start([*line, "--verify", "--query", sql], environ=environ)
        out, err = done.communicate(timeout=300)
        assert done.returncode == 0 and out.count("150") >= 3, out + err
