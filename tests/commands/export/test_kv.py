"""Key-value and object buckets as tables: `export kv`, `export objects`, and the data source."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import js
from tests.support.run import Cli

pytestmark = pytest.mark.spark


def bucket(url: str, name: str, *subjects: str, **config: Any) -> None:
    """Make the stream of a bucket, as clients do."""
    js.stream(url, name, *subjects, allow_direct=True, allow_rollup_hdrs=True, discard="new", **config)


def change(url: str, key: str, value: bytes, operation: str = "") -> None:
    header = f"NATS/1.0\r\nKV-Operation: {operation}\r\n\r\n" if operation else "NATS/1.0\r\n\r\n"
    js.publish_framed(url, f"$KV.B.{key}", header.encode(), value)


def short(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(row["key"], row["value"], row["revision"], row["operation"]) for row in rows]


def test_keys_and_their_history(cli: Cli, url: str, spark: Any, tmp_path: Path) -> None:
    bucket(url, "KV_B", "$KV.B.>", max_msgs_per_subject=5)
    for key, value, operation in (
        ("a", b"1", ""),
        ("b.c", b"1", ""),
        ("a", b"2", ""),
        ("gone", b"1", ""),
        ("gone", b"", "DEL"),
        ("b.c", b"", "PURGE"),
        ("b.c", b"\xff", ""),
    ):
        change(url, key, value, operation)
    latest = [("a", b"2", 3, "put"), ("gone", None, 5, "delete"), ("b.c", b"\xff", 7, "put")]

    done = cli(f"export kv B --to {tmp_path}/out --json", status=0).json
    assert done["rows"] == {"B": 3}
    table = spark.read.parquet(str(tmp_path / "out" / "B")).orderBy("revision")
    assert short(table.toArrow().to_pylist()) == latest
    again = f"export kv B --to {tmp_path}/out --history --key a --key gone --json"
    assert "--force" in cli(again, status=64).err
    assert cli(f"{again} --force", status=0).json["rows"] == {"B": 4}
    sql = "SELECT key, count(*) AS changes FROM B GROUP BY key ORDER BY key"
    answer = cli(["export", "query", "--from", f"{tmp_path}/out", sql, "--json"], status=0).json
    assert answer == [{"key": "a", "changes": 2}, {"key": "gone", "changes": 2}]
    refused = cli(f"import {tmp_path}/out/B --stream KV_B", status=64)
    assert "is a table of a bucket, not of messages" in refused.err

    source = spark.read.format("jetstream").options(servers=url, bucket="B").load()
    assert short(source.orderBy("revision").toArrow().to_pylist()) == latest
    query = (
        spark.readStream.format("jetstream")
        .options(servers=url, bucket="B", startingOffsets="earliest")
        .load()
        .writeStream.format("parquet")
        .options(path=str(tmp_path / "changes"), checkpointLocation=str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination(100)
    changes = spark.read.parquet(str(tmp_path / "changes")).orderBy("revision").toArrow().to_pylist()
    assert [row["operation"] for row in changes] == ["put", "put", "put", "put", "delete", "purge", "put"]


def test_decoded_values(cli: Cli, url: str, spark: Any, tmp_path: Path) -> None:
    """Fields may have the names of columns of streams, or of buckets."""
    bucket(url, "KV_B", "$KV.B.>", max_msgs_per_subject=5)
    change(url, "a", b'{"n": 1, "sequence": 9, "key": "x"}')
    change(url, "a", b'{"n": 2, "sequence": 9}')
    change(url, "bad", b"no JSON")
    change(url, "gone", b"{}")
    change(url, "gone", b"", "DEL")
    values = [("a", 2, 9, None), ("bad", None, None, b"no JSON"), ("gone", None, None, None)]

    def decoded(frame: Any) -> list[tuple[Any, ...]]:
        rows = frame.orderBy("revision").toArrow().to_pylist()
        return [(row["key"], row["n"], row["sequence"], row["bad_payload"]) for row in rows]

    done = cli(f"export kv B --to {tmp_path}/out --decode json --json", status=0).json
    assert (done["rows"], done["bad"]) == ({"B": 3}, {"B": 1})
    assert decoded(spark.read.parquet(f"{tmp_path}/out/B")) == values
    line = f"export kv B --to {tmp_path}/text --decode text --key bad"
    assert "could not be decoded" not in cli(line, status=0).out
    (row,) = spark.read.parquet(f"{tmp_path}/text/B").toArrow().to_pylist()
    assert (row["value"], row["bad_payload"]) == ("no JSON", None)

    options = {"servers": url, "bucket": "B", "decode": "json", "schema": "n INT, sequence INT, key STRING"}
    source = spark.read.format("jetstream").options(**options)
    assert source.load().columns[-4:] == ["n", "sequence", "data_key", "bad_payload"]
    assert decoded(source.load()) == values
    assert source.load().where("sequence > 8").count() == 1
    changes = source.option("history", "all").option("keepData", "true").load()
    first = changes.where("revision = 1").first()
    assert (first.n, first.data_key, bytes(first.data)[:5]) == (1, "x", b'{"n":')


def test_objects(cli: Cli, url: str, spark: Any, tmp_path: Path) -> None:
    bucket(url, "OBJ_FILES", "$O.FILES.C.>", "$O.FILES.M.>")
    js.publish(url, "$O.FILES.C.chunks", b"content", 3)
    for info in (
        {"name": "a.txt", "size": 21, "chunks": 3, "digest": "SHA-256=x", "metadata": {"k": "v"}},
        {"name": "link", "options": {"link": {"bucket": "FILES", "name": "a.txt"}}},
        {"name": "gone", "deleted": True, "size": 0, "chunks": 0},
    ):
        name = base64.urlsafe_b64encode(str(info["name"]).encode()).decode()
        js.publish(url, f"$O.FILES.M.{name}", json.dumps(info).encode())
    js.publish(url, "$O.FILES.M.other", b"not JSON")
    assert cli(f"export objects FILES --to {tmp_path}/out --json", status=0).json["rows"] == {"FILES": 4}
    rows = spark.read.parquet(str(tmp_path / "out" / "FILES")).orderBy("revision").toArrow().to_pylist()
    assert [(row["name"], row["size"], row["operation"], row["link"]) for row in rows] == [
        ("a.txt", 21, "put", None),
        ("link", None, "put", "FILES/a.txt"),
        ("gone", 0, "delete", None),
        (None, None, "put", None),
    ]
    assert rows[0]["metadata"] == [("k", "v")]


@pytest.mark.parametrize(
    ("line", "status", "words"),
    [
        ("export kv NONE --to {}/out", 3, "bucket NONE not found"),
        ("export objects NONE --to {}/out", 3, "object bucket NONE not found"),
        ("export kv a.b --to {}/out", 64, "is not a valid bucket name"),
        ("export kv A A --to {}/out", 64, "named more than once"),
        ("export kv A --decode json --schema oops --to {}/out", 64, "schema"),
        ("export kv A --decode avro --to {}/out", 64, "--decode avro needs a schema"),
        ("export kv A --key a..b --to {}/out", 64, "is not a valid subject filter"),
    ],
)
def test_wrong_command_lines(cli: Cli, tmp_path: Path, line: str, status: int, words: str) -> None:
    wrong = cli(line.format(tmp_path), status=status)
    assert words in wrong.err and wrong.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_question_about_what_was_exported(cli: Cli, url: str, spark: Any, tmp_path: Path) -> None:
    js.bucket(url, "B")
    js.publish_all(url, [("$KV.B.a", b"1"), ("$KV.B.b", b"2")])
    js.wait_until_stored(url, "KV_B", 2)
    line = ["export", "kv", "B", "--to", f"{tmp_path}/t", "--force", "--query"]
    done = cli([*line, "SELECT key, revision FROM B ORDER BY key"], status=0)
    assert [row.split() for row in done.out.splitlines()] == [["key", "revision"], ["a", "1"], ["b", "2"]]
    assert done.err == ""
    document = cli([*line, "SELECT count(*) AS n FROM B", "--json"], status=0).json
    assert (document["rows"], document["query"]) == ({"B": 2}, [{"n": 2}])
    refused = cli([*line, "DROP TABLE B"], status=64)
    assert "--query is not a SELECT" in refused.err
    wrong = cli([*line, "SELECT no FROM B"], status=64)
    assert "wrote 2 rows" in wrong.err and "cannot be resolved" in wrong.err.splitlines()[-1]
