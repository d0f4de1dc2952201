"""Streaming queries of `format("jetstream")` in a real Spark against real servers."""

import contextlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.spark.datasource.test_planning import publishing
from tests.spark.datasource.test_source import fill, frame, more, sequences
from tests.support import js
from tests.support.cases import sample
from tests.support.waiting import wait_for

pytestmark = pytest.mark.spark


class Query:
    """A streaming query into Parquet, with a checkpoint, run to the end of what there is."""

    def __init__(self, spark: Any, url: str, folder: Path, **options: str) -> None:
        self.spark = spark
        self.url = url
        self.table = folder / "table"
        self.checkpoint = folder / "checkpoint"
        self.options = {"startingOffsets": "earliest", **options}

    def source(self) -> Any:
        return self.spark.readStream.format("jetstream").options(
            servers=self.url, stream="S", requestTimeout="3s", **self.options
        )

    def run(self) -> Any:
        """AvailableNow; returns the query, ended."""
        query = (
            self.source()
            .load()
            .writeStream.format("parquet")
            .option("checkpointLocation", str(self.checkpoint))
            .trigger(availableNow=True)
            .start(str(self.table))
        )
        query.awaitTermination(60)
        return query

    def fail_in_batch_0(self) -> None:
        """Leave a checkpoint whose batch 0 was planned and not committed."""

        def fail(batch: Any, number: int) -> None:
            raise RuntimeError("stop here")

        query = (
            self.source()
            .load()
            .writeStream.foreachBatch(fail)
            .option("checkpointLocation", str(self.checkpoint))
            .trigger(availableNow=True)
            .start()
        )
        with pytest.raises(Exception, match="stop here"):
            query.awaitTermination(60)
        assert (self.checkpoint / "offsets" / "0").exists()
        assert not (self.checkpoint / "commits" / "0").exists()

    def sequences(self) -> list[int]:
        """What the table holds, through its metadata."""
        return sequences(self.spark.read.parquet(str(self.table)))


def test_available_now_and_on_from_the_checkpoint(spark: Any, url: str, tmp_path: Path) -> None:
    fill(url, 1000)
    query = Query(spark, url, tmp_path)
    query.run()
    assert query.sequences() == list(range(1, 1001))
    more(url, 500)
    query.run()
    query.run()
    assert query.sequences() == list(range(1, 1501))


def test_batches_are_as_large_as_asked(spark: Any, url: str, tmp_path: Path) -> None:
    fill(url, 1000)
    query = Query(spark, url, tmp_path, maxOffsetsPerTrigger="300")
    ended = query.run()
    sizes = [progress["numInputRows"] for progress in ended.recentProgress if progress["numInputRows"]]
    assert sizes == [300, 300, 300, 100]
    assert query.sequences() == list(range(1, 1001))
    offsets = sorted((query.checkpoint / "offsets").iterdir(), key=lambda path: path.name)
    last = json.loads([path for path in offsets if path.name.isdigit()][-1].read_text().splitlines()[-1])
    assert (last["from"], last["next"]) == (901, 1001)


def test_latest_is_where_a_new_query_starts(spark: Any, url: str, tmp_path: Path) -> None:
    fill(url, 100)
    query = (
        spark.readStream.format("jetstream")
        .options(servers=url, stream="S")
        .load()
        .writeStream.format("memory")
        .queryName("latest")
        .start()
    )
    try:
        wait_for(lambda: query.lastProgress, "the query has not begun", 30)
        more(url, 50)
        wait_for(lambda: spark.table("latest").count() >= 50, "messages are missing", 30)
        assert sequences(spark.table("latest")) == list(range(101, 151))
    finally:
        query.stop()


def test_messages_purged_before_batch_0_was_committed_are_missed(
    spark: Any, url: str, tmp_path: Path
) -> None:
    """Spark asks for the initial offset again: taken as it is, the purged ones would be left out unsaid."""
    fill(url, 1000)
    query = Query(spark, url, tmp_path)
    query.fail_in_batch_0()
    js.ask(url, "STREAM.PURGE.S", {"seq": 501})
    with pytest.raises(
        Exception, match="now starts at sequence 501, after the requested 1: 500 messages are lost"
    ):
        query.run()
    query.options["failOnDataLoss"] = "false"
    query.run()
    assert query.sequences() == list(range(501, 1001))


def test_latest_stays_what_it_was_when_batch_0_is_done_again(spark: Any, url: str, tmp_path: Path) -> None:
    fill(url, 10)
    query = Query(spark, url, tmp_path, startingOffsets="3")
    query.fail_in_batch_0()
    more(url, 10)
    query.options["startingOffsets"] = "latest"
    query.run()
    assert query.sequences() == list(range(3, 21))


def test_a_purge_between_runs(spark: Any, url: str, tmp_path: Path) -> None:
    fill(url, 100)
    query = Query(spark, url, tmp_path)
    query.run()
    more(url, 100)
    js.ask(url, "STREAM.PURGE.S", {"seq": 151})
    with pytest.raises(Exception, match="now starts at sequence 151, after the requested 101"):
        query.run()
    query.options["failOnDataLoss"] = "false"
    query.run()
    assert query.sequences() == [*range(1, 101), *range(151, 201)]


@pytest.mark.parametrize(("rate", "limit"), sample([(40, 20), (2000, 500)], 2))
def test_a_stream_at_its_limit(spark: Any, url: str, tmp_path: Path, rate: int, limit: int) -> None:
    """Half a second or less of messages, which is less than Spark takes from planning to reading."""
    fill(url, limit, max_msgs=limit)
    with publishing(url, "S.a", rate):
        wait_for(lambda: js.info(url, "S")["state"]["first_seq"] > 1, "messages that fall off")
        rows = sequences(frame(spark, url))
        assert rows == sorted(set(rows))
        query = Query(spark, url, tmp_path)
        for _, lost, _ in missing(query.run()):  # what is gone was not promised
            assert not lost
        wait_for_gap(url, query)
        with pytest.raises(Exception, match=r"are lost; .*set failOnDataLoss to false to read what is left"):
            query.run()  # from where the first batch ended
        query.options["failOnDataLoss"] = "false"
        assert sum(lost for _, lost, _ in missing(query.run()))
    rows = query.sequences()
    assert len(rows) == len(set(rows))


def wait_for_gap(url: str, query: Query) -> None:
    """Wait until messages after the checkpoint have fallen off the head."""
    end = json.loads((query.checkpoint / "offsets" / "0").read_text().splitlines()[-1])["next"]
    wait_for(lambda: js.info(url, "S")["state"]["first_seq"] > end + 1, "a head that moves")


def missing(query: Any) -> list[tuple[int, int, int | None]]:
    """(rows, lost, deleted) of every batch, as a query's progress shows them."""
    steps = [json.loads(step.json) for step in query.recentProgress]
    ends = [(step["numInputRows"], step["sources"][0]["endOffset"]) for step in steps]
    return [(rows, end["lost"], end["deleted"]) for rows, end in ends if rows or end["lost"]]


def test_what_is_missing_is_in_the_progress(spark: Any, url: str, tmp_path: Path) -> None:
    fill(url, 100)
    for sequence in (20, 21, 70):
        js.ask(url, "STREAM.MSG.DELETE.S", {"seq": sequence})
    query = Query(spark, url, tmp_path, maxOffsetsPerTrigger="50", failOnDataLoss="false")
    assert missing(query.run()) == [(48, 0, 2), (49, 0, 1)]
    more(url, 60)
    js.ask(url, "STREAM.PURGE.S", {"seq": 141})
    assert missing(query.run()) == [(20, 40, 0)]
    more(url, 10)
    js.ask(url, "STREAM.PURGE.S")
    assert missing(query.run()) == [(0, 10, 0)]
    more(url, 10)
    js.ask(url, "STREAM.MSG.DELETE.S", {"seq": 175})
    query.options["subject"] = "S.*"  # among other subjects nobody sees what was deleted
    assert missing(query.run()) == [(9, 0, None)]
    assert query.sequences() == [
        n for n in [*range(1, 101), *range(141, 161), *range(171, 181)] if n not in (20, 21, 70, 175)
    ]


def test_deletions_fail_a_query_that_says_so(spark: Any, url: str, tmp_path: Path) -> None:
    fill(url, 100)
    query = Query(spark, url, tmp_path, failOnDeleted="true")
    query.run()
    more(url, 100)
    js.ask(url, "STREAM.MSG.DELETE.S", {"seq": 150})
    with pytest.raises(Exception, match="1 message of S was deleted between"):
        query.run()
    assert query.sequences() == list(range(1, 101))
    query.options["failOnDeleted"] = "false"
    assert missing(query.run()) == [(99, 0, 1)]


@pytest.mark.parametrize("again", sample([300, 50, 100], 3))
def test_a_stream_created_again_between_runs_fails(spark: Any, url: str, tmp_path: Path, again: int) -> None:
    fill(url, 100)
    query = Query(spark, url, tmp_path)
    query.run()
    js.ask(url, "STREAM.DELETE.S")
    fill(url, again)
    with pytest.raises(Exception, match="stream S was created again"):
        query.run()
    assert query.sequences() == list(range(1, 101))
    query.options["failOnDataLoss"] = "false"
    query.run()
    assert query.sequences() == sorted([*range(1, 101), *range(1, again + 1)])


def test_a_stream_rolled_back_between_runs_fails(spark: Any, url: str, tmp_path: Path) -> None:
    fill(url, 100)
    query = Query(spark, url, tmp_path)
    query.run()
    _edit_offsets(query.checkpoint, lambda offset: {**offset, "next": 151})
    with pytest.raises(Exception, match="was rolled back: it was at sequence 150, now it ends at 100"):
        query.run()


def _edit_offsets(checkpoint: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Rewrite the last offset, as if the stream had been further: a roll-back needs a restored disk."""
    file = max(
        (path for path in (checkpoint / "offsets").iterdir() if path.name.isdigit()),
        key=lambda p: int(p.name),
    )
    *head, last = file.read_text().splitlines()
    file.write_text("\n".join([*head, json.dumps(change(json.loads(last)))]))
    with contextlib.suppress(FileNotFoundError):
        (file.parent / f".{file.name}.crc").unlink()


def test_no_end_for_a_stream(spark: Any, url: str, tmp_path: Path) -> None:
    fill(url, 1)
    query = Query(spark, url, tmp_path, endingOffsets="5")
    with pytest.raises(Exception, match=r"are only for spark\.read") as failed:
        query.run()
    assert "During handling" not in str(failed.value)
    # Python 3.13 underlines more calls of a traceback.
    assert len([line for line in str(failed.value).splitlines() if line.strip(" ~^")]) <= 16
    shutil.rmtree(query.checkpoint, ignore_errors=True)
