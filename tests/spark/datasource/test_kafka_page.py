"""The manual's page for those who come from Kafka: its code, run by a real Spark on a real server."""

import re
from pathlib import Path
from typing import Any

import pytest

from jsctl import manual
from tests.support import js

pytestmark = pytest.mark.spark


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", manual.read_topic("kafka"), re.DOTALL | re.MULTILINE)


def test_the_code_of_the_page_runs(
    spark: Any, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for stream in ("ORDERS", "LOGS_EU"):
        js.stream(url, stream, f"{stream}.>", allow_direct=True)
        js.publish(url, f"{stream}.new", b"an order", 6)
    session = spark.newSession()
    names: dict[str, Any] = {}
    for number, code in enumerate(blocks("python")):
        text = code.replace("connect(servers=", "connect(session, servers=")
        text = text.replace("nats://localhost:4222", url).replace(
            '"checkpoint"', repr(str(tmp_path / "point"))
        )
        text = text.replace('start("orders")', f"start({str(tmp_path / 'orders')!r})")
        exec(compile(text, f"kafka.md, block {number + 1}", "exec"), names | {"session": session}, names)
    rows = names["orders"].collect()
    assert sorted((row.stream, row.sequence) for row in rows if row.stream == "ORDERS") == [
        ("ORDERS", 3),
        ("ORDERS", 4),
    ]
    assert sum(row.stream == "LOGS_EU" for row in rows) == 6
    assert session.read.parquet(str(tmp_path / "orders")).count() == 6
    last = js.ask(url, "STREAM.MSG.GET.ORDERS", {"last_by_subj": "ORDERS.4711"})["message"]
    assert last["seq"] == 7
    for block in blocks("sql"):
        results = [session.sql(statement).collect() for statement in block.split(";")]
        assert [(row["topic"], row["max(offset)"]) for row in results[-1]] == [("ORDERS", 6)]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"subscribe": "S"}, "unknown option 'subscribe': the streams are named by 'streams'"),
        ({"kafka.bootstrap.servers": "h:9092"}, "the servers are named by 'servers'"),
        ({"stream": "S", "startingOffsets": "latest"}, "startingOffsets latest is only for spark.readStream"),
    ],
)
def test_options_of_kafka_say_what_to_write(
    spark: Any, url: str, options: dict[str, str], words: str
) -> None:
    js.stream(url, "S", "S.>")
    with pytest.raises(Exception) as raised:
        spark.read.format("jetstream").options(servers=url, **options).load().collect()
    assert words in str(raised.value)


def test_columns_of_kafka_say_what_to_write(spark: Any, url: str) -> None:
    js.stream(url, "S", "S.>")
    rows = spark.createDataFrame([("k", "v")], "key string, value string")
    for frame, options, words in (
        (
            rows.select("value"),
            {},
            "column value is not one of subject, data, headers, msg_id: the payload is",
        ),
        (rows.selectExpr("value AS data"), {"topic": "S.a"}, "unknown option 'topic': messages are chosen"),
    ):
        with pytest.raises(Exception) as raised:
            frame.write.format("jetstream").mode("append").options(servers=url, **options).save()
        assert words in str(raised.value)
