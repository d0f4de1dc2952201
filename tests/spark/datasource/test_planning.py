"""Readers as Spark uses them, on real servers and without a JVM: streams at their limits, idle queries,
servers that go away, admission, several streams."""

import asyncio
import contextlib
import json
import pickle
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput, JsctlError, Unreachable
from jsctl.nats.connection import Connection
from jsctl.spark.source.batch_reader import JetStreamReader, RangePartition
from jsctl.spark.source.options import parse_read_options
from jsctl.spark.source.range_reader import DataLoss
from jsctl.spark.source.stream_reader import JetStreamStreamReader
from tests.support import js
from tests.support.meanwhile import running
from tests.support.servers import Cluster, RealServer, free_port
from tests.support.waiting import wait_for

Offset = dict[str, Any]


def batch(url: str, stream: str = "S", **options: str) -> JetStreamReader:
    return JetStreamReader(parse_read_options(_options(url, stream, options)))


def _options(url: str, stream: str, options: dict[str, str]) -> dict[str, str]:
    name = {} if "streams" in options else {"stream": stream}
    return {"servers": url, **name, "requestTimeout": "3s", **options}


def read(reader: Any, partitions: list[RangePartition] | None = None) -> list[tuple[str, int]]:
    """(stream, sequence) of all rows, through what Spark sends to its tasks."""
    tasks = pickle.loads(pickle.dumps((reader.read, partitions or reader.partitions())))
    return [row for part in tasks[1] for rows in tasks[0](part) for row in zip(*_places(rows), strict=True)]


def _places(rows: Any) -> tuple[list[str], list[int]]:
    return rows.column("stream").to_pylist(), rows.column("sequence").to_pylist()


def sequences(rows: list[tuple[str, int]]) -> list[int]:
    return [sequence for _, sequence in rows]


class Query:
    """A streaming query, driven as Spark does it. `offset` is its checkpoint."""

    def __init__(self, url: str, stream: str = "S", offset: Offset | None = None, **options: str) -> None:
        self.options = parse_read_options(_options(url, stream, options), streaming=True)
        self.reader = JetStreamStreamReader(self.options)
        self.offset = offset or self.reader.initialOffset()
        self.limit = self.reader.getDefaultReadLimit()

    def plan(self) -> Offset:
        return self.reader.latestOffset(self.offset, self.limit)

    def step(self) -> list[tuple[str, int]]:
        """Read and commit the next batch; nothing when there is none."""
        end = self.plan()
        if end == self.offset:
            return []
        rows = read(self.reader, self.reader.partitions(self.offset, end))
        self.offset = end
        self.reader.commit(end)
        return rows


@contextlib.contextmanager
def publishing(url: str, subject: str, rate: int) -> Iterator[None]:
    """Publish `rate` messages per second meanwhile."""

    async def work(ended: threading.Event) -> None:
        connection = await Connection.open(Settings(url=url))
        begin, sent = time.monotonic(), 0
        while not ended.is_set():
            due = int((time.monotonic() - begin) * rate)
            for _ in range(due - sent):
                await connection.publish(subject, b"x" * 100)
            sent = max(sent, due)
            await asyncio.sleep(0.01)
        await connection.close()

    with running(work):
        yield


def fill(url: str, count: int, stream: str = "S", **config: Any) -> None:
    js.stream(url, stream, f"{stream}.>", allow_direct=True, **config)
    add(url, count, stream)


def add(url: str, count: int, stream: str = "S", subject: str = "a", size: int = 10) -> None:
    last = js.info(url, stream)["state"]["last_seq"]
    js.publish(url, f"{stream}.{subject}", b"x" * size, count)
    wait_for(lambda: js.info(url, stream)["state"]["last_seq"] >= last + count, "the messages")


# -- streams at their limits ----------------------------------------------------------------------


@pytest.mark.parametrize(("rate", "limit"), [(40, 1000), (2000, 20_000)])
def test_a_stream_at_its_limit_is_read_whatever_falls_off(url: str, rate: int, limit: int) -> None:
    """What was planned has fallen off after ten seconds: more than a busy machine needs to read it."""
    fill(url, limit, max_msgs=limit)
    with publishing(url, "S.a", rate):
        wait_for(lambda: js.info(url, "S")["state"]["first_seq"] > 5, "messages that fall off")
        reader = batch(url, minPartitions="4")
        partitions = reader.partitions()
        first, end = partitions[0].job.start, partitions[-1].job.end
        wait_for(lambda: js.info(url, "S")["state"]["first_seq"] > first, "a head that moves")
        rest = sequences(read(reader, partitions))
        assert rest == sorted(set(rest))
        assert rest[-1] == end - 1
        assert rest[0] > first

        query = Query(url, startingOffsets="earliest")
        wait_for(lambda: js.info(url, "S")["state"]["first_seq"] > query.offset["next"], "a head that moves")
        planned = query.plan()
        wait_for(lambda: js.info(url, "S")["state"]["first_seq"] > planned["from"], "a head that moves")
        end_offset = query.plan()  # again, as after a lost connection
        wait_for(lambda: js.info(url, "S")["state"]["first_seq"] > end_offset["from"], "a head that moves")
        assert query.reader.initialOffset() == query.offset  # Spark asks again before it runs batch 0
        rows = sequences(read(query.reader, query.reader.partitions(query.offset, end_offset)))
        assert rows[0] > end_offset["from"]
        assert rows == sorted(set(rows))
        assert end_offset["lost"] == 0
        query.offset = end_offset
        more = sequences(query.step())
        assert more == list(range(end_offset["next"], query.offset["next"]))  # from here on all is promised


def test_what_was_promised_is_not_left_out(url: str) -> None:
    fill(url, 100)
    query = Query(url, startingOffsets="earliest", maxOffsetsPerTrigger="50")
    planned = query.plan()
    js.ask(url, "STREAM.PURGE.S", {"seq": 21})
    again = Query(url, offset=query.offset, startingOffsets="earliest")  # the batch is in the checkpoint
    with pytest.raises(DataLoss, match="20 messages are lost"):
        read(again.reader, again.reader.partitions(query.offset, planned))
    assert sequences(read(query.reader, query.reader.partitions(query.offset, planned))) == list(
        range(21, 51)
    )
    query.offset = planned
    js.ask(url, "STREAM.PURGE.S", {"seq": 61})
    with pytest.raises(
        DataLoss, match="now starts at sequence 61, after the requested 51: 10 messages are lost"
    ):
        query.step()


def test_an_overtaken_range_is_empty_where_loss_is_allowed(url: str) -> None:
    fill(url, 100)
    js.ask(url, "STREAM.PURGE.S", {"seq": 51})
    lossy = {"startingOffsets": "5", "failOnDataLoss": "false"}
    assert read(batch(url, endingOffsets="10", **lossy)) == []
    assert sequences(read(batch(url, endingOffsets="53", **lossy))) == [51, 52]
    reader = batch(url, startingOffsets="60", endingOffsets="70", failOnDataLoss="false")
    partitions = reader.partitions()
    js.ask(url, "STREAM.PURGE.S", {"seq": 90})
    assert read(reader, partitions) == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"endingOffsets": "10"}, "endingOffsets 10 is before the first message that S has, 51"),
        ({"startingOffsets": "90", "endingOffsets": "80"}, "startingOffsets 90 is after endingOffsets 80"),
        ({"startingOffsets": "latest", "endingOffsets": "80"}, "is only for spark.readStream"),
        ({"startingOffsets": "-5", "endingOffsets": "80"}, "startingOffsets -5, which is 96, is after"),
        ({"startingTimestamp": "2100-01-01T00:00:00Z", "endingOffsets": "80"}, "startingTimestamp, which is"),
        ({"subject": "S.*.a,S.b.*"}, "subjects 'S.*.a' and 'S.b.*' overlap"),
        ({"stream": "S*"}, "use .option"),
        ({"streams": "S,T", "startingOffsets": "5"}, "a sequence is valid in one stream only"),
        ({"streams": "NONE_*"}, "no stream has a name like NONE_"),
        ({"streams": "S*", "startingOffsets": '{"SX": 5}'}, "offsets of stream SX, which does not exist"),
        (
            {"streams": "S*", "startingOffsets": '{"S": 150}'},
            "is beyond the stream, whose last message is 100",
        ),
        ({"columns": "subject,size"}, "there is no column size"),
        ({"columns": "subject", "includeData": "false"}, "cannot be used together"),
        ({"startingTimestamp": "-10 apples"}, "or -10m for ten minutes ago"),
        ({"startingOffsets": "-0"}, "or -1000 for the last thousand"),
        ({"maxBytesPerTrigger": "5MB"}, "is only for spark.readStream"),
    ],
)
def test_what_is_wrong_is_reported_in_the_users_words(url: str, options: dict[str, str], words: str) -> None:
    fill(url, 100)
    js.ask(url, "STREAM.PURGE.S", {"seq": 51})
    with pytest.raises(JsctlError) as raised:
        batch(url, **options).partitions()
    assert words in str(raised.value)


def test_filters_that_others_cover_are_left_out(url: str) -> None:
    fill(url, 10)
    add(url, 5, subject="b.c")
    assert sequences(read(batch(url, subject="S.a,S.>,S.b.*"))) == list(range(1, 16))


def test_checkpoints_of_something_else_are_refused(url: str) -> None:
    fill(url, 10)
    fill(url, 10, "T")
    one, several = Query(url, startingOffsets="earliest"), Query(url, streams="S,T")
    for offset, options, words in (
        (one.offset, {"stream": "T"}, "reads stream S, but this one reads stream T"),
        (one.offset, {"streams": "S,T"}, "reads stream S, but this one reads streams S, T"),
        (several.offset, {"stream": "S"}, "reads streams S, T, but this one reads stream S"),
    ):
        with pytest.raises(BadInput, match=words):
            Query(url, offset=offset, **options).step()
    del one.offset["stream"]  # as earlier versions wrote it
    assert sequences(Query(url, offset=one.offset).step()) == list(range(1, 11))


def create_again(url: str, name: str, count: int) -> None:
    js.ask(url, f"STREAM.DELETE.{name}")
    fill(url, count, name)


def test_one_of_many_that_is_created_again(url: str, caplog: pytest.LogCaptureFixture) -> None:
    """Without failOnDataLoss it is read from its head, and said; with it, it can be left out alone."""
    fill(url, 20)
    fill(url, 10, "T")
    query = Query(url, streams="S,T", startingOffsets="earliest")
    assert len(query.step()) == 30
    create_again(url, "T", 30)  # more than the old one had
    add(url, 5)
    with pytest.raises(DataLoss) as raised:
        query.step()
    assert str(raised.value) == (
        "stream T was created again; set failOnDataLoss to false to read it from its head, or leave T out of"
        " the option streams: the others continue where they are"
    )
    alone = Query(url, streams="S,U*", offset=query.offset)
    assert alone.step() == [("S", n) for n in range(21, 26)] and set(alone.offset["streams"]) == {"S"}
    lenient = Query(url, streams="S,T", offset=query.offset, failOnDataLoss="false")
    rows = [*(("S", n) for n in range(21, 26)), *(("T", n) for n in range(1, 31))]
    assert sorted(lenient.step()) == rows
    assert lenient.offset["streams"]["T"] | {"created": ""} == {
        **{"stream": "T", "created": "", "from": 1, "next": 31, "lost": 0, "deleted": 0}
    }
    assert [record.getMessage() for record in caplog.records] == [
        "jsctl: stream T was created again: what it had from sequence 11 on and was not read is lost, and"
        " the new one is read from its head"
    ]
    add(url, 1, "T")
    assert Query(url, streams="S,T", offset=lenient.offset).step() == [("T", 31)]  # as strict as before


def test_one_stream_that_is_created_again(url: str) -> None:
    fill(url, 20)
    query = Query(url, startingOffsets="earliest", failOnDataLoss="false")
    query.step()
    planned = Query(url, offset=query.offset, failOnDataLoss="false")
    add(url, 5)
    batch_of_old = planned.plan()
    js.ask(url, "STREAM.DELETE.S")
    js.stream(url, "S", "S.>", allow_direct=True)
    assert query.step() == []  # nothing is in the new one
    add(url, 30)
    # A batch that was planned and not committed is of the old stream, which is gone.
    assert planned.reader.partitions(query.offset, batch_of_old) == []
    planned.offset = batch_of_old
    assert sequences(planned.step()) == sequences(query.step()) == list(range(1, 31))
    strict = Query(url, offset=batch_of_old)
    for work in (strict.step, lambda: strict.reader.partitions(planned.offset, batch_of_old)):
        with pytest.raises(
            DataLoss, match="read it from its head, or start again without the old checkpoint"
        ):
            work()


# -- idle queries ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_an_idle_query_keeps_one_connection_and_asks_rarely(tmp_path: Path) -> None:
    monitor = free_port()
    server = RealServer(
        tmp_path,
        f'listen: "127.0.0.1:{{port}}"\nhttp: "127.0.0.1:{monitor}"\n'
        'jetstream { store_dir: "{store}" }\n',
    ).start()

    def numbers() -> dict[str, int]:
        with urllib.request.urlopen(f"http://127.0.0.1:{monitor}/varz", timeout=5) as answer:
            varz: dict[str, int] = json.load(answer)
        return varz

    try:
        js.stream(server.url, "S", "S.>", allow_direct=True)
        js.publish(server.url, "S.a", b"x" * 500_000)
        query = Query(server.url, startingOffsets="earliest")
        assert len(query.step()) == 1
        before, begin = numbers(), time.monotonic()
        while time.monotonic() < begin + 2:
            assert query.step() == []
            time.sleep(0.01)  # as Spark does
        after, took = numbers(), time.monotonic() - begin
        assert after["total_connections"] == before["total_connections"]
        assert after["connections"] == 1
        assert (after["in_msgs"] - before["in_msgs"]) / took <= 5
        assert (after["out_bytes"] - before["out_bytes"]) / took < 10_000, "the first message is not read"
        query.reader.stop()
        wait_for(lambda: numbers()["connections"] == 0, "the end of the connection")
    finally:
        server.stop()


# -- servers that go away -------------------------------------------------------------------------


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RealServer]:
    config = 'listen: "127.0.0.1:{port}"\njetstream { store_dir: "{store}" }\n'
    own = RealServer(tmp_path, config).start()
    yield own
    own.stop()


def restart_later(server: RealServer, seconds: float) -> threading.Timer:
    server.kill()
    timer = threading.Timer(seconds, server.start)
    timer.start()
    return timer


@pytest.mark.long
def test_planning_and_reading_survive_an_offline_server(server: RealServer) -> None:
    """For longer than the attempts last: those are about a second here."""
    fill(server.url, 3000)
    query = Query(server.url, startingOffsets="earliest", retries="1", minPartitions="2")
    timer = restart_later(server, 4)
    end = query.plan()
    timer.join()
    partitions = query.reader.partitions(query.offset, end)
    timer = restart_later(server, 4)
    assert sequences(read(query.reader, partitions)) == list(range(1, 3001))
    timer.join()


@pytest.mark.long
def test_retry_timeout_ends_it(server: RealServer) -> None:
    fill(server.url, 10)
    query = Query(server.url, retries="0", retryTimeout="1500ms")
    server.kill()
    begin = time.monotonic()
    with pytest.raises(Unreachable, match="connection refused"):
        query.plan()
    assert 1.5 <= time.monotonic() - begin < 30
    with pytest.raises(Unreachable, match="connection refused"):  # a wrong address is told at once
        batch(server.url, retries="0").partitions()


@pytest.mark.slow
def test_servers_that_others_name_are_used(cluster: Cluster) -> None:
    only = cluster.servers["n1"].url_for("acc")
    js.ask_patiently(
        cluster.url,
        "STREAM.CREATE.S",
        {"name": "S", "subjects": ["S.>"], "num_replicas": 3, "allow_direct": True},
    )
    js.ask_patiently(
        cluster.url,
        "STREAM.CREATE.R1",
        {"name": "R1", "subjects": ["R1.>"], "allow_direct": True, "placement": {"cluster": "east"}},
    )
    add(cluster.url, 500)
    add(cluster.url, 50, "R1")
    query = Query(only, startingOffsets="earliest")
    end = query.plan()
    partitions = query.reader.partitions(query.offset, end)
    assert {address.url for address in partitions[0].addresses}, "no other address was learned"
    leader = js.info(cluster.url, "R1")["cluster"]["leader"]
    offline = Query(cluster.url, "R1", startingOffsets="earliest")
    cluster.servers["n1"].kill()
    assert sequences(read(query.reader, partitions)) == list(range(1, 501))
    assert query.plan() == end
    if leader != "n1":
        cluster.servers["n1"].start()
        cluster.wait()
        cluster.servers[leader].kill()
    timer = threading.Timer(3, cluster.servers[leader].start)
    timer.start()
    assert sequences(offline.step()) == list(range(1, 51))  # "stream is offline" meanwhile
    timer.join()
