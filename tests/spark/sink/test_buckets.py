"""Rows into a key-value bucket, `df.write.format("jetstream").option("bucket", ...)`, by a real Spark."""

import base64
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from jsctl.contexts.settings import Settings
from jsctl.nats.headers import parse_headers
from jsctl.spark.sink import publishing
from jsctl.spark.sink.publishing import WriteJob
from tests.support import js
from tests.support.run import Cli

pytestmark = pytest.mark.spark


def write(frame: Any, url: str, **options: Any) -> None:
    frame.write.format("jetstream").mode("append").options(servers=url, **options).save()


def history(cli: Cli, key: str) -> list[tuple[str, str]]:
    """The operations on a key of B, and its values."""
    entries = cli(["kv", "history", "B", key, "--json"], status=0).json
    return [(one["operation"], one.get("value", "")) for one in entries]


def test_rows_are_entries(spark: Any, cli: Cli, url: str) -> None:
    cli("kv add B --history 5", status=0)
    write(
        spark.createDataFrame([("a.b", "1"), ("c", ""), ("d", "2")], "key string, value string"),
        url,
        bucket="B",
    )
    assert cli("kv get B a.b --raw", status=0).out == "1"
    write(spark.createDataFrame([("a.b", None), ("c", b"3")], "key string, value binary"), url, bucket="B")
    assert [operation for operation, _ in history(cli, "a.b")] == ["PUT", "DELETE"]
    assert cli("kv get B c --raw", status=0).out == "3"
    rows = [("c", "4", "put"), ("d", None, "PURGE"), ("e", "5", None), ("a.b", "x", "delete")]
    write(spark.createDataFrame(rows, "key string, value string, operation string"), url, bucket="B")
    assert [operation for operation, _ in history(cli, "d")] == ["PURGE"]  # and its history is gone
    assert cli("kv get B e --raw", status=0).out == "5"
    assert cli("kv ls B", status=0).out.split() == ["c", "e"]
    for sequence in (1, 4):
        message = js.ask(url, "STREAM.MSG.GET.KV_B", {"seq": sequence})["message"]
        assert b"Nats-Expected-Stream: KV_B" in base64.b64decode(message["hdrs"])


def test_a_bucket_is_copied_with_its_changes(spark: Any, cli: Cli, url: str, tmp_path: Path) -> None:
    cli("kv add A --history 5", status=0)
    cli("kv add B --history 5", status=0)
    for line in ("put A k 1", "put A k 2", "del A k --force", "put A l 3", "put A k 4"):
        cli(f"kv {line}", status=0)
    query = (
        spark.readStream.format("jetstream")
        .options(servers=url, bucket="A", startingOffsets="earliest")
        .load()
        .writeStream.format("jetstream")
        .options(servers=url, bucket="B", checkpointLocation=str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination(100)
    assert [operation for operation, _ in history(cli, "k")] == ["PUT", "PUT", "DELETE", "PUT"]
    assert cli("kv diff A B", status=0)
    everything = spark.read.format("jetstream").options(servers=url, bucket="A", history="all").load()
    before = js.info(url, "KV_B")["state"]["last_seq"]
    write(everything, url, bucket="B", writeId="w")
    write(everything.repartition(3), url, bucket="B", writeId="w")  # nothing is stored twice
    assert js.info(url, "KV_B")["state"]["last_seq"] == before + 5


def test_a_key_is_once_in_a_burst() -> None:
    """Otherwise a message that is published again could follow a later value of its key."""
    job = WriteJob(Settings(), "KV_B", write_id="w", bucket="B")
    batch = pa.record_batch({"key": ["a", "b", "a", "a"], "value": ["1", "2", "3", "4"]})
    bursts = list(publishing.build_message_bursts(job, 0, publishing.list_rows(job, [batch])))
    assert [[message.data for message in burst] for burst in bursts] == [[b"1", b"2"], [b"3"], [b"4"]]
    assert bursts[0][0].subject == "$KV.B.a"
    in_domain = WriteJob(Settings(js_domain="hub"), "KV_B", write_id="w", bucket="B")
    ((message, *_), *_) = publishing.build_message_bursts(
        in_domain, 0, publishing.list_rows(in_domain, [batch])
    )
    assert message.subject == "$JS.hub.API.$KV.B.a"
    purge = pa.record_batch({"key": ["a"], "value": ["1"], "operation": ["purge"]})
    (((message,)),) = publishing.build_message_bursts(job, 0, publishing.list_rows(job, [purge]))
    headers = dict(parse_headers(message.header_block))
    assert (headers["KV-Operation"], headers["Nats-Rollup"], message.data) == ("PURGE", "sub", b"")


@pytest.mark.parametrize(
    ("rows", "schema", "words"),
    [
        ([(None, "1")], "key string, value string", "a row has no key"),
        ([("a b", "1")], "key string, value string", "'a b' is not a valid key"),
        (
            [("a", None, "put")],
            "key string, value string, operation string",
            "the operation put, but no value",
        ),
        ([("a", "1", "PAT")], "key string, value string, operation string", "use put, delete or purge"),
        ([("a", 1)], "key string, value int", "column value is int; cast it to string"),
        ([("a",)], "key string", "there is no column value"),
        ([("a", "1", 1)], "key string, value string, size int", "column size is not one of key, value"),
    ],
)
def test_rows_that_are_no_entries_say_so(
    spark: Any, cli: Cli, url: str, rows: list[Any], schema: str, words: str
) -> None:
    cli("kv add B", status=0)
    with pytest.raises(Exception) as raised:
        write(spark.createDataFrame(rows, schema), url, bucket="B")
    assert words in str(raised.value)
    assert js.info(url, "KV_B")["state"]["messages"] == 0


def test_buckets_that_cannot_be_written_say_so(spark: Any, cli: Cli, url: str) -> None:
    cli("kv add B", status=0)
    cli("kv add M --mirror B", status=0)
    rows = spark.createDataFrame([("a", "1")], "key string, value string")
    for options, words in (
        ({"bucket": "NONE"}, "bucket NONE not found"),
        ({"bucket": "M"}, "is a mirror, which accepts no messages; write to its origin"),
        ({"bucket": "B", "stream": "S"}, "options bucket and stream cannot be used together"),
        ({"bucket": "B", "subject": "S"}, "options bucket and subject cannot be used together"),
        ({"bucket": "a.b"}, "'a.b' is not a valid bucket name"),
    ):
        with pytest.raises(Exception) as raised:
            write(rows, url, **options)
        assert words in str(raised.value)
