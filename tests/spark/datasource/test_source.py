"""`format("jetstream")` in a real Spark against real servers: batches, streams, checkpoints."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from jsctl.spark import connect
from tests.support import js, spark_home

pytestmark = pytest.mark.spark


def fill(url: str, count: int, stream: str = "S", **config: Any) -> None:
    js.stream(url, stream, f"{stream}.>", allow_direct=True, **config)
    more(url, count, stream)


def more(url: str, count: int, stream: str = "S") -> None:
    js.publish(url, f"{stream}.a", b"payload", count)


def frame(spark: Any, url: str, stream: str = "S", **options: Any) -> Any:
    return spark.read.format("jetstream").options(servers=url, stream=stream, **options).load()


def sequences(frame: Any) -> list[int]:
    return sorted(row.sequence for row in frame.select("sequence").collect())


# -- batches --------------------------------------------------------------------------------------


def test_rows_and_types(spark: Any, url: str) -> None:
    js.stream(url, "S", "S.>", allow_direct=True)
    js.ask(url, "STREAM.INFO.S")
    js.publish(url, "S.a", b"\x00\xff")
    table = frame(spark, url, includeHeaders="true")
    assert table.dtypes == [
        ("stream", "string"),
        ("subject", "string"),
        ("sequence", "bigint"),
        ("timestamp", "timestamp"),
        ("data", "binary"),
        ("headers", "array<struct<key:string,value:binary>>"),
    ]
    (row,) = table.toArrow().to_pylist()
    assert (row["stream"], row["subject"], row["sequence"], row["data"]) == ("S", "S.a", 1, b"\x00\xff")
    assert row["headers"] is None
    assert abs(row["timestamp"] - datetime.now(UTC)) < timedelta(minutes=1)
    assert frame(spark, url).columns == ["stream", "subject", "sequence", "timestamp", "data"]


@pytest.mark.parametrize("mode", ["direct", "consumer"])
def test_every_message_once_from_several_tasks(spark: Any, url: str, mode: str) -> None:
    fill(url, 5000)
    table = frame(spark, url, fetchMode=mode, minPartitions="4", batchSize="300")
    assert table.rdd.getNumPartitions() == 4
    assert sequences(table) == list(range(1, 5001))
    some = frame(spark, url, fetchMode=mode, startingOffsets="100", endingOffsets="200")
    assert sequences(some) == list(range(100, 200))
    assert js.ask(url, "STREAM.INFO.S")["state"]["consumer_count"] == 0


def test_an_empty_stream_is_an_empty_table(spark: Any, url: str) -> None:
    js.stream(url, "S", "S.>", allow_direct=True)
    assert frame(spark, url).count() == 0
    assert frame(spark, url, includeHeaders="true").collect() == []


def test_filters_of_the_query_do_not_break_it(spark: Any, url: str) -> None:
    fill(url, 100)
    assert frame(spark, url).where("sequence > 90 AND subject = 'S.a'").count() == 10
    assert frame(spark, url).selectExpr("max(sequence) AS last").collect()[0]["last"] == 100
    assert frame(spark, url, subject="S.b").count() == 0


def test_a_frame_is_whole_after_a_query_with_filters(spark: Any, url: str) -> None:
    fill(url, 100)
    session = spark.newSession()
    connect(session, servers=url)
    rows = session.read.format("jetstream").option("stream", "S").load()
    assert rows.where("sequence <= 3").count() == 3
    assert rows.count() == 100


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"strem": "X"}, "unknown option 'strem'; did you mean stream?"),
        ({"stream": "NOPE"}, "stream NOPE not found"),
        ({"startingOffsets": "500"}, "is beyond the stream"),
        ({"fetchMode": "quick"}, "is not auto, direct or consumer"),
        ({"maxOffsetsPerTrigger": "5"}, "is only for spark.readStream"),
        ({"servers": "nats://127.0.0.1:9"}, "connection refused"),
    ],
)
def test_wrong_options_fail_when_it_is_planned(
    spark: Any, url: str, options: dict[str, str], words: str
) -> None:
    fill(url, 10)
    with pytest.raises(Exception) as failed:
        value = {"servers": url, "stream": "S", **options}
        spark.read.format("jetstream").options(**value).load().collect()
    text = str(failed.value)
    assert words in text
    assert text.count("\n") <= 5 and text.count("File ") == 1, text  # one line of ours, not a traceback


def test_a_schema_of_ones_own_is_refused(spark: Any, url: str) -> None:
    fill(url, 1)
    with pytest.raises(Exception, match="the schema of a stream is fixed"):
        spark.read.format("jetstream").schema("a INT").options(servers=url, stream="S").load().collect()


def test_lost_messages_fail_the_query_unless_allowed(spark: Any, url: str) -> None:
    fill(url, 100)
    js.ask(url, "STREAM.PURGE.S", {"seq": 51})
    with pytest.raises(Exception, match="starts at sequence 51, after startingOffsets 1"):
        frame(spark, url, startingOffsets="1").collect()
    assert sequences(frame(spark, url, startingOffsets="1", failOnDataLoss="false")) == list(range(51, 101))
    js.ask(url, "STREAM.MSG.DELETE.S", {"seq": 60})
    assert 60 not in sequences(frame(spark, url))
    with pytest.raises(Exception, match="1 message of S was deleted between") as failed:
        frame(spark, url, failOnDeleted="true").collect()
    assert str(failed.value).count("\n") <= 12
    with pytest.raises(Exception, match="failOnDeleted and subject cannot be used together"):
        frame(spark, url, failOnDeleted="true", subject="S.a").collect()


@pytest.mark.long
def test_a_program_finds_contexts_and_its_log_has_the_loss_that_is_allowed(url: str, tmp_path: Path) -> None:
    """Spark's Python processes read XDG_CONFIG_HOME and write to stderr, so in a Spark of its own."""
    spark_home.require_whole_java()
    fill(url, 100)
    js.ask(url, "STREAM.PURGE.S", {"seq": 51})
    (tmp_path / "nats" / "context").mkdir(parents=True)
    (tmp_path / "nats" / "context" / "here.json").write_text(json.dumps({"url": url}))
    code = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
options = {"context": "here", "stream": "S", "startingOffsets": "1", "failOnDataLoss": "false"}
print("count", spark.read.format("jetstream").options(**options).load().count())
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "XDG_CONFIG_HOME": str(tmp_path), "PYSPARK_PYTHON": sys.executable},
    )
    assert "count 50" in done.stdout, done.stderr[-2000:]
    output = [line for line in done.stderr.splitlines() if line.startswith("jsctl:")]
    assert output == ["jsctl: 50 messages of S, between 1 and 50, left the stream unread"]


def test_secrets_are_in_no_plan(spark: Any, url: str, capsys: pytest.CaptureFixture[str]) -> None:
    fill(url, 1)
    table = frame(spark, url, seed="SECRET1", jwt="SECRET2", password="SECRET3")
    for mode in ("simple", "extended", "formatted", "codegen", "cost"):
        table.explain(mode)
    text = capsys.readouterr().out + repr(table) + str(table._jdf.queryExecution().toString())
    assert "BatchScan jetstream" in text or "RelationV2" in text
    assert "SECRET" not in text
    login = url.partition("@")[0].partition("//")[2]
    assert login not in text
