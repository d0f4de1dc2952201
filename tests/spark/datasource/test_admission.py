"""How much a batch takes, relative starts, several streams, columns: readers as Spark uses them."""

import time
from typing import Any

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable

from jsctl.base.units import parse_bytes
from jsctl.errors import BadInput, JsctlError, NotFound
from jsctl.spark.source.range_reader import DataLoss
from tests.spark.datasource.test_planning import Query, add, batch, fill, read, sequences
from tests.support import js
from tests.support.waiting import wait_for


def test_batches_are_about_as_many_bytes_as_asked(url: str) -> None:
    fill(url, 1000)
    query = Query(url, startingOffsets="earliest", maxBytesPerTrigger="20KB")
    sizes = [len(query.step()) for _ in range(2)]
    per_message = js.info(url, "S")["state"]["bytes"] / 1000
    assert all(abs(size - parse_bytes("20KB") / per_message) < 5 for size in sizes)
    while query.step():
        pass
    add(url, 20, size=9000)  # larger than all before, which is seen as they come
    query.plan()
    add(url, 1)
    assert 1 <= len(query.step()) <= 3
    one = Query(url, startingOffsets="earliest", maxBytesPerTrigger="1B")
    assert [len(one.step()) for _ in range(3)] == [1, 1, 1]
    one.limit = ReadAllAvailable()  # a trigger that runs once
    assert len(one.step()) == 1018


@pytest.mark.slow
def test_a_batch_waits_for_enough_messages_but_not_forever(url: str) -> None:
    fill(url, 10)
    query = Query(url, startingOffsets="earliest", minOffsetsPerTrigger="50", maxTriggerDelay="3s")
    assert query.step() == []
    add(url, 45)
    assert len(query.step()) == 55
    add(url, 5)
    begin = time.monotonic()
    assert query.step() == []
    wait_for(lambda: len(query.step()) == 5, "the longest wait")
    assert time.monotonic() - begin > 2
    add(url, 5)
    drained = Query(url, offset=query.offset, minOffsetsPerTrigger="50")
    drained.reader.prepareForTriggerAvailableNow()
    assert len(drained.step()) == 5


@pytest.mark.slow
def test_relative_starts(url: str) -> None:
    fill(url, 100)
    time.sleep(2.2)  # "-2s" below is time itself
    add(url, 7)
    for reader in (batch(url, startingTimestamp="-2s"), batch(url, startingOffsets="-7")):
        assert sequences(read(reader)) == list(range(101, 108))
    assert sequences(Query(url, startingTimestamp="-2s").step()) == list(range(101, 108))
    assert len(read(batch(url, startingOffsets="-5000"))) == 107
    assert len(read(batch(url, startingTimestamp="-1h", endingTimestamp="-2s"))) == 100


# -- several streams ------------------------------------------------------------------------------


def test_several_streams_in_one_frame(url: str) -> None:
    for name, count in (("LOG_A", 10), ("LOG_B", 20), ("OTHER", 5)):
        fill(url, count, name)
    expected = [("LOG_A", n) for n in range(1, 11)] + [("LOG_B", n) for n in range(1, 21)]
    assert read(batch(url, streams="LOG_*")) == expected
    assert read(batch(url, streams="LOG_A, LOG_B")) == expected
    assert len(read(batch(url, streams="OTHER,LOG_*", startingOffsets="-3"))) == 9
    with pytest.raises(JsctlError, match="stream NOPE not found"):
        batch(url, streams="LOG_A,NOPE").partitions()


def test_each_stream_from_an_offset_of_its_own(url: str) -> None:
    for name in ("LOG_A", "LOG_B", "LOG_C"):
        fill(url, 10, name)
    offsets = {"startingOffsets": '{"LOG_A": 8, "LOG_B": -3}', "endingOffsets": '{"LOG_A": 10, "LOG_C": 2}'}
    expected = [("LOG_A", 8), ("LOG_A", 9), ("LOG_B", 8), ("LOG_B", 9), ("LOG_B", 10), ("LOG_C", 1)]
    assert read(batch(url, streams="LOG_*", **offsets)) == expected
    assert read(batch(url, "LOG_A", startingOffsets='{"LOG_A": 10}')) == [("LOG_A", 10)]
    times = '{"LOG_A": "-1h", "LOG_B": 4102444800000}'
    assert read(batch(url, streams="LOG_A,LOG_B", startingTimestamp=times)) == [
        ("LOG_A", n) for n in range(1, 11)
    ]
    query = Query(url, streams="LOG_A,LOG_B", startingOffsets='{"LOG_A": 9}')
    assert query.step() == [("LOG_A", 9), ("LOG_A", 10)]  # the other begins at its end
    add(url, 1, "LOG_B")
    assert query.step() == [("LOG_B", 11)]
    again = Query(url, streams="LOG_A,LOG_B", startingOffsets='{"LOG_A": 1}', offset=query.offset)
    assert again.step() == []
    with pytest.raises(NotFound, match="offsets of stream LOG_X, which does not exist"):
        Query(url, streams="LOG_*", startingOffsets='{"LOG_X": 9}')


@pytest.mark.slow
def test_streams_that_appear_later_join_in(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jsctl.spark.source.stream_reader.NAMES_POLL", 0)
    fill(url, 10, "LOG_A")
    query = Query(url, streams="LOG_*", maxOffsetsPerTrigger="20")
    assert query.step() == []
    fill(url, 30, "LOG_B")
    add(url, 10, "LOG_A")
    first = query.step()
    assert {name for name, _ in first} == {"LOG_A", "LOG_B"}
    assert len(first) <= 20
    rows = first + query.step() + query.step() + query.step()
    assert sorted(rows) == [("LOG_A", n) for n in range(11, 21)] + [("LOG_B", n) for n in range(1, 31)]
    again = Query(url, streams="LOG_*", offset=query.offset)
    assert again.step() == []
    js.ask(url, "STREAM.DELETE.LOG_A")
    with pytest.raises(DataLoss, match="stream LOG_A no longer exists"):
        again.step()
    add(url, 2, "LOG_B")
    lossy = Query(url, streams="LOG_*", offset=query.offset, failOnDataLoss="false")
    assert lossy.step() == [("LOG_B", 31), ("LOG_B", 32)]


def test_a_batch_is_done_again_without_a_stream_that_is_gone(url: str) -> None:
    """Where loss is allowed; a checkpoint that cannot be used any more would be worse."""
    for name in ("LOG_A", "LOG_B"):
        fill(url, 10, name)
    options: dict[str, Any] = {"streams": "LOG_A,LOG_B", "startingOffsets": "earliest"}
    query = Query(url, **options)
    start, end = query.offset, query.plan()
    js.ask(url, "STREAM.DELETE.LOG_A")
    with pytest.raises(DataLoss, match="stream LOG_A no longer exists; set failOnDataLoss"):
        Query(url, offset=start, **options).reader.partitions(start, end)
    lossy = Query(url, offset=start, failOnDataLoss="false", **options).reader
    assert read(lossy, lossy.partitions(start, end)) == [("LOG_B", n) for n in range(1, 11)]


# -- columns --------------------------------------------------------------------------------------


def test_columns_that_are_read(url: str) -> None:
    fill(url, 3)
    for options, names in (
        ({"includeData": "false"}, ["stream", "subject", "sequence", "timestamp"]),
        ({"columns": "sequence, subject"}, ["subject", "sequence"]),
        ({"columns": "headers"}, ["headers"]),
    ):
        reader = batch(url, **options)
        (rows,) = reader.read(reader.partitions()[0])
        assert rows.schema.names == names
        assert len(rows) == 3


# -- a consumer that shows where a query is --------------------------------------------------------


def test_a_consumer_follows_the_checkpoint(url: str) -> None:
    fill(url, 100)
    query = Query(url, startingOffsets="earliest", maxOffsetsPerTrigger="30", committedConsumer="SPARK")
    for floor, pending in ((30, 70), (60, 40)):
        query.step()
        info = js.ask(url, "CONSUMER.INFO.S.SPARK")
        assert (info["ack_floor"]["stream_seq"], info["num_pending"]) == (floor, pending)
    # Spark commits a batch when it has planned the next; before, it asks for what there is after it.
    query.offset = query.plan()
    query.plan()
    info = js.ask(url, "CONSUMER.INFO.S.SPARK")
    assert (info["ack_floor"]["stream_seq"], info["num_pending"]) == (90, 10)
    js.ask(
        url,
        "CONSUMER.CREATE.S.THEIRS",
        {"stream_name": "S", "config": {"name": "THEIRS", "durable_name": "THEIRS"}},
    )
    with pytest.raises(BadInput, match="THEIRS of S does not track a streaming query"):
        Query(url, committedConsumer="THEIRS")
    js.stream(url, "W", "W.>", allow_direct=True, retention="workqueue")
    with pytest.raises(BadInput, match="W has workqueue retention"):
        Query(url, "W", committedConsumer="SPARK")
