"""Exports to URIs of Hadoop's file systems, through one that Spark brings: viewfs, whose folders are of
this machine."""

import json
import threading
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from jsctl.errors import BadInput, JsctlError
from jsctl.spark.export import commit_log, query
from jsctl.spark.export.commit_log import CommitLog, lease, list_versions, read_state
from jsctl.spark.export.targets import ObjectTarget
from jsctl.spark.session import jvm
from jsctl.spark.session.hadoop import HadoopPath
from tests.commands.export.conftest import Lake
from tests.commands.export.test_stream import fill, sequences
from tests.support import js
from tests.support.run import Cli

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]


def write(target: ObjectTarget, spark: Any, *numbers: int, replace: bool = False) -> None:
    with target.commit("T", replace=replace) as (folder, checkpoint):
        frame = spark.createDataFrame([(number,) for number in numbers], "sequence int").coalesce(1)
        frame.write.mode("append").parquet(str(folder))
        earlier = 0 if replace else (target.read_checkpoint("T") or {}).get("exported", 0)
        checkpoint |= {"exported": earlier + len(numbers), "last": numbers[-1]}


def open_target(lake: Lake, spark: Any) -> ObjectTarget:
    target = ObjectTarget(lake.root / "x", "stream", "parquet", ["T"])
    target.connect(spark)
    return target


def hidden(folder: Path) -> list[str]:
    """The files of a folder that are no data, without checksums."""
    names = (str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())
    return sorted(name for name in names if not name.endswith((".crc", ".parquet")))


def test_a_stream_in_parts_and_as_a_whole(cli: Cli, url: str, spark: Any, lake: Lake) -> None:
    fill(url, 20)
    to, table = f"{lake.root}/x", lake.folder / "x" / "ORDERS"
    line = f"export stream ORDERS --to {to} --json"
    assert cli(f"{line} --dry-run", status=0)
    assert list(lake.folder.iterdir()) == []
    done = cli(f"{line} --incremental --to-seq 8", status=0).json
    assert (done["to"], done["streams"][0]["exported"]) == (to, 8)
    done = cli(f"{line} --incremental --verify", status=0).json
    assert done["streams"][0]["exported"] == 12 and sequences(table) == list(range(1, 21))
    assert cli(f"{line} --incremental", status=0).json["streams"][0]["exported"] == 0
    assert "--force" in cli(line, status=64).err
    assert cli(f"{line} --force", status=0).json["streams"][0]["exported"] == 20
    assert sequences(table) == list(range(1, 21)) and len(list(table.glob("*.parquet"))) == 1
    assert all(name.startswith("_commits/") for name in hidden(lake.folder / "x"))
    sql = "SELECT count(*) AS n FROM ORDERS"
    assert cli(["export", "query", "--from", to, sql, "--json"], status=0).json == [{"n": 20}]


def test_a_query_reads_the_newest_version_once(
    cli: Cli, url: str, spark: Any, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(url, 3)
    cli(f"export stream ORDERS --to {lake.root}/x", status=0)
    reads: list[HadoopPath] = []

    def count(root: HadoopPath) -> list[int]:
        reads.append(root)
        return list_versions(root)

    monkeypatch.setattr(commit_log, "list_versions", count)
    assert query.register_views(spark, (lake.root / "x").connect(spark)) == {"ORDERS": "parquet"}
    assert len(reads) == 1
    assert spark.table("ORDERS").count() == 3


@pytest.mark.long
def test_partitions_decoded_and_back(cli: Cli, url: str, spark: Any, lake: Lake) -> None:
    fill(url, 9)
    to = f"{lake.root}/x"
    line = f"export stream ORDERS --to {to} --format json --partition-by date --headers"
    cli(f"{line} --incremental --verify", status=0)
    fill(url, 3)
    cli(f"{line} --incremental --verify", status=0)
    js.stream(url, "COPY", "COPY.>", allow_direct=True)
    preview = cli(f"import {to} --stream COPY --map ORDERS=COPY --dry-run --json", status=0).json
    assert preview["messages"] == 12
    cli(f"import {to}/ORDERS --stream COPY --map ORDERS=COPY", status=0)
    assert js.info(url, "COPY")["state"]["messages"] == 12
    decoded = f"export stream ORDERS --to {lake.root}/decoded --decode json --incremental --json"
    assert cli(decoded, status=0).json["streams"][0]["exported"] == 12
    sql = "SELECT max(id) AS id FROM ORDERS"
    answer = cli(["export", "query", "--from", f"{lake.root}/decoded", sql, "--json"], status=0).json
    assert answer == [{"id": 12}]


@pytest.mark.long
def test_buckets_reports_and_rollups(cli: Cli, url: str, spark: Any, lake: Lake) -> None:
    js.stream(url, "KV_B", "$KV.B.>", allow_direct=True)
    js.publish_all(url, [("$KV.B.a", b"1"), ("$KV.B.b", b"2")])
    to = lake.root / "kv"
    assert cli(f"export kv B --to {to} --json", status=0).json["rows"] == {"B": 2}
    assert "--force" in cli(f"export kv B --to {to}", status=64).err
    assert cli(f"export kv B --to {to} --force --json", status=0).json["rows"] == {"B": 2}
    assert pq.read_table(lake.folder / "kv" / "B").num_rows == 2

    reports = lake.root / "reports"
    for _ in range(2):
        assert cli(f"export reports --to {reports} --json", status=0).json["rows"]["streams"] == 1
    sql = "SELECT count(*) AS n FROM streams"
    assert cli(["export", "query", "--from", str(reports), sql, "--json"], status=0).json == [{"n": 2}]
    for _ in range(2):
        rows = cli(f"export rollup --from {reports} --json", status=0).json["rows"]
        assert rows["streams_daily"] == 1
    history = cli(f"report history --from {reports} --daily --json", status=0).json
    assert [row["stream"] for row in history["streams"]] == ["KV_B"]
    assert "holds an export of stream" in cli(f"export reports --to {to}", status=64).err


def test_what_is_not_committed_does_not_count(cli: Cli, url: str, spark: Any, lake: Lake) -> None:
    fill(url, 10)
    to, table = f"{lake.root}/x", lake.folder / "x" / "ORDERS"
    cli(f"export stream ORDERS --to {to} --incremental", status=0)
    spark.read.parquet(str(table)).write.mode("append").parquet(str(table))  # by a run that was killed
    assert len(sequences(table)) == 20
    query = ["export", "query", "--from", to, "SELECT count(*) AS n FROM ORDERS", "--json"]
    assert cli(query, status=0).json == [{"n": 10}]
    js.stream(url, "COPY", "COPY.>", allow_direct=True)
    line = f"import {to} --stream COPY --map ORDERS=COPY --dry-run --json"
    assert cli(line, status=0).json["messages"] == 10
    (table / "mine.parquet").write_bytes(
        next(table.glob("*.parquet")).read_bytes()
    )  # nobody's but the user's
    fill(url, 1)
    cli(f"export stream ORDERS --to {to} --incremental", status=0)
    assert (table / "mine.parquet").exists()
    (table / "mine.parquet").unlink()
    assert sequences(table) == list(range(1, 12))


@pytest.mark.long
def test_killed_at_each_moment(spark: Any, lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    class Killed(BaseException):
        """Nothing runs after it."""

    calls = 0
    changes = ("write_text", "create_text", "unlink", "rmtree")
    methods = {name: getattr(HadoopPath, name) for name in changes}

    def counting(name: str) -> Any:
        def call(path: HadoopPath, *args: Any) -> Any:
            nonlocal calls
            if threading.current_thread() is threading.main_thread():
                calls += 1
                if calls >= last:
                    raise Killed
            return methods[name](path, *args)

        return call

    expected: list[int] = []
    ended = False
    last = 1
    while not ended:
        target, before = open_target(lake, spark), len(expected)
        numbers = [before * 10 + 1, before * 10 + 2]
        replace = last % 3 == 0
        calls = 0
        with monkeypatch.context() as patched:
            for name in changes:
                patched.setattr(HadoopPath, name, counting(name))
            try:
                with target.lock():
                    write(target, spark, *numbers, replace=replace)
                ended = True
            except Killed:
                pass
        again = open_target(lake, spark)
        with again.lock():
            state = read_state(again.path)
            is_committed = bool(
                state and state.tables and state.tables["T"].checkpoint["last"] == numbers[-1]
            )
            if not is_committed:
                write(again, spark, *numbers, replace=replace)
        expected = numbers if replace else [*expected, *numbers]
        assert sequences(lake.folder / "x" / "T") == sorted(expected), last
        last += 1
    assert last > 5  # as many moments at least


def test_one_run_at_a_time(spark: Any, lake: Lake) -> None:
    first, second = open_target(lake, spark), open_target(lake, spark)
    with first.lock():
        with pytest.raises(BadInput, match="another export writes to"), second.lock():
            pass
        write(first, spark, 1)
    with second.lock():
        write(second, spark, 2)
    assert sequences(lake.folder / "x" / "T") == [1, 2]


def test_a_file_is_read_while_it_is_replaced(spark: Any, lake: Lake) -> None:
    """Hadoop replaces a file of this machine and its checksum one after the other."""
    file = lake.root / "lease.json"
    file.write_text("0")
    is_read = threading.Event()

    def replace() -> None:
        number = 0
        while not is_read.is_set():
            number += 1
            file.write_text(str(number))

    thread = threading.Thread(target=replace)
    thread.start()
    try:
        texts = [file.read_text() or "0" for _ in range(100)]
    finally:
        is_read.set()
        thread.join()
    assert all(text.isdigit() for text in texts)
    (lake.folder / "lease.json").write_text("damaged")
    with pytest.raises(JsctlError, match="Checksum error"):
        file.read_text()


def test_a_run_that_was_thought_dead_commits_nothing(spark: Any, lake: Lake) -> None:
    target = open_target(lake, spark)
    with target.lock():
        write(target, spark, 1)
    with pytest.raises(JsctlError, match=r"took .* over"), target.lock():
        other = CommitLog(target.path)
        state = read_state(target.path)
        assert state is not None
        other.begin(state)
        write(target, spark, 2)
    assert len(sequences(lake.folder / "x" / "T")) == 2  # the file may be the other's, so it stays for now
    with target.lock():
        assert sequences(lake.folder / "x" / "T") == [1]


def test_a_lease_of_another_machine(spark: Any, lake: Lake) -> None:
    file = lake.root / commit_log.LEASE
    file.write_text(json.dumps({"machine": "elsewhere", "pid": 1, "id": "a", "renewed": 1}))
    with lease(lake.root):  # free after a while: nobody renews it
        content = json.loads(file.read_text() or "")
        assert content["id"] != "a"
    assert not file.exists()
    file.write_text("{")  # begun by a run that was killed
    with lease(lake.root):
        pass


def test_a_lease_that_is_empty_while_it_is_renewed(
    spark: Any, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HDFS shows a file before its content."""
    texts = iter(['{"id": "a", "renewed": 1}', ""])
    monkeypatch.setattr(HadoopPath, "read_text", lambda file: next(texts))
    with pytest.raises(BadInput, match="another export writes to"), lease(lake.root):
        pass


def test_versions_are_few_and_half_of_one_is_none(spark: Any, lake: Lake) -> None:
    target = open_target(lake, spark)
    for number in range(4):
        with target.lock():
            write(target, spark, number)
    versions = list_versions(target.path)
    assert len(versions) == 2
    (lake.folder / "x" / "_commits" / f"{versions[-1] + 1:020}.json").write_text('{"kind": "str')
    with open_target(lake, spark).lock():
        pass
    target = open_target(lake, spark)
    with target.lock():
        write(target, spark, 4)
    assert sequences(lake.folder / "x" / "T") == [0, 1, 2, 3, 4]


def test_something_else_is_there(cli: Cli, url: str, spark: Any, lake: Lake) -> None:
    fill(url, 1)
    (lake.folder / "x").mkdir()
    (lake.folder / "x" / "mine.txt").touch()
    refused = cli(f"export stream ORDERS --to {lake.root}/x", status=64)
    assert "exists and is not an export of jsctl" in refused.err
    assert [file.name for file in (lake.folder / "x").iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("--to s3://lake/x", "s3a://"),
        ("--to s3a:///x", "names no bucket"),
        ("--to s3a://key:secret@lake/x", "holds a password"),
        ("--to s3a://lake/../x", "not a valid URI"),
        ("--to s3a://lake/x --remote sc://127.0.0.1:1", "--remote cannot be used with s3a://lake/x"),
        (
            "--to out --packages hadoop-aws",
            "'hadoop-aws' is not a package; write auto, or GROUP:NAME:VERSION",
        ),
        ("--to nosuch://lake/x", "knows no file system nosuch://"),
        ("--to s3a://lake/x", "lacks the file system of s3a://; add --packages auto"),
    ],
)
def test_places_that_cannot_be(cli: Cli, url: str, spark: Any, flags: str, message: str) -> None:
    fill(url, 1)
    refused = cli(f"export stream ORDERS {flags}", status=64).err
    assert message in refused and "secret@" not in refused and len(refused.splitlines()) == 1


def test_secrets_are_in_no_command_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    settings = [("spark.hadoop.fs.s3a.secret.key", "hush1"), ("spark.hadoop.fs.s3a.access.key", "hush2")]
    settings.append(("spark.hadoop.fs.azure.account.key.mine.dfs.core.windows.net", "hush3"))
    with (tmp_path / "log").open("wb") as log:
        words = jvm._build_command([*settings, ("spark.app.name", "seen")], jvm._build_environment(), log)
    assert "hush" not in " ".join(words) and "seen" in " ".join(words)
