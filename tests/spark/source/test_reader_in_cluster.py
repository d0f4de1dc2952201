"""The range readers on a real cluster of three: followers that lag, leaders that move, servers that die."""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from jsctl.contexts.settings import Settings
from jsctl.spark.source import plan
from jsctl.spark.source.connection import StreamConnection
from jsctl.spark.source.direct import DirectReader
from jsctl.spark.source.options import parse_read_options
from jsctl.spark.source.planning import with_connection
from jsctl.spark.source.pull import ConsumerReader
from jsctl.spark.source.range_reader import RangeReader, ReadJob
from jsctl.spark.source.replies import AnswerLimits, Reply
from tests.support import js
from tests.support.servers import Cluster
from tests.support.waiting import wait_for

pytestmark = pytest.mark.cluster

COUNT = 8_000


def fill(url: str) -> None:
    """The stream S with COUNT messages, on all three."""
    config = {"name": "S", "subjects": ["S.>"], "num_replicas": 3, "allow_direct": True, "storage": "file"}
    js.ask_patiently(url, "STREAM.CREATE.S", config)
    js.publish(url, "S.a", b"x" * 100, COUNT)


def job(urls: str) -> ReadJob:
    options = parse_read_options({"servers": urls, "stream": "S", "batchSize": "100", "requestTimeout": "2s"})
    with contextlib.closing(StreamConnection.open(options.settings)) as connection:
        seen = plan.fetch_stream(connection, options)
    return plan.create_read_job(options, seen.created, seen.first, seen.end)


def sequences(batches: Iterable[Any]) -> list[int]:
    return [one for batch in batches for one in batch["sequence"].to_pylist()]


def trouble(cluster: Cluster, seen: Callable[[], int]) -> None:
    """Move the leader, then kill and restart one server after the other, faster than they choose a leader
    (in 4 to 9 s). Then wait until the reader, which has `seen` so many messages, gets on: it may have to wait
    for a leader, without which no server knows where a stream ends or creates a consumer."""
    js.ask_patiently(cluster.url, "STREAM.LEADER.STEPDOWN.S")
    for server in cluster.servers.values():
        time.sleep(0.3)  # outages are time
        server.kill()
        time.sleep(0.3)
        server.start()
    cluster.wait()
    before = seen()
    wait_for(lambda: seen() > before, "the reader does not get on", 60)


@pytest.mark.parametrize("reader", [DirectReader, ConsumerReader])
def test_every_sequence_once_while_servers_die_and_leaders_move(
    cluster: Cluster, reader: type[RangeReader]
) -> None:
    fill(cluster.url)
    planned = job(cluster.url)
    total = 0
    thread = threading.Thread(target=trouble, args=(cluster, lambda: total))
    thread.start()
    try:
        while thread.is_alive():
            range_reader = reader(planned, lambda: StreamConnection.open(Settings(url=cluster.url)))
            seen: list[int] = []
            for batch in range_reader:
                seen += sequences([batch])
                total += batch.num_rows
                time.sleep(0.01)  # so that one reading meets several outages
            assert seen == list(range(1, COUNT + 1))
            assert (range_reader.deleted, range_reader.lost) == (0, 0)
    finally:
        thread.join()


def test_the_end_is_read_while_it_moves(cluster: Cluster) -> None:
    """Planned to the leader's last message at once after it came: followers may not have it yet."""
    fill(cluster.url)
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            js.publish(cluster.url, "S.a", b"x" * 100, 500)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(20):
            planned = job(cluster.url)
            planned = planned._replace(start=planned.end - 500)
            range_reader = DirectReader(planned, lambda: StreamConnection.open(Settings(url=cluster.url)))
            assert sequences(range_reader) == list(range(planned.start, planned.end))
            assert range_reader.deleted == 0
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("reader", [DirectReader, ConsumerReader])
def test_a_follower_that_lags_is_not_taken_for_deletions(
    cluster: Cluster, reader: type[RangeReader], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that stood still while the others took messages says, when it runs again, that there are none.

    Which server answers a direct get, or gets the consumer, is up to the servers, and so is how soon this one
    has what it missed: it is done again until the reader had to ask the leader what comes next.
    """
    answers = 0
    call = RangeReader.call

    def counted(self: RangeReader, connection: StreamConnection, verb: str, body: Any = None) -> Any:
        nonlocal answers
        answers += verb.startswith("STREAM.MSG.GET.")
        return call(self, connection, verb, body)

    asked = threading.Event()
    ask = StreamConnection.ask

    def noted(self: StreamConnection, limits: AnswerLimits, data: bytes) -> tuple[bytes, Reply]:
        result = ask(self, limits, data)
        asked.set()
        return result

    monkeypatch.setattr(RangeReader, "call", counted)
    monkeypatch.setattr(StreamConnection, "ask", noted)
    fill(cluster.url)
    deadline = time.monotonic() + 40
    while not answers:
        if time.monotonic() > deadline:
            pytest.skip("no follower lagged")
        stream = js.ask_patiently(cluster.url, "STREAM.INFO.S")
        last, leader = stream["state"]["last_seq"], stream["cluster"]["leader"]
        url, follower = cluster.servers[leader].url_for("acc"), stream["cluster"]["replicas"][0]["name"]
        server = cluster.servers[follower]
        planned = job(url)._replace(start=last - 99, fail_on_deleted=True)
        settings = Settings(url=server.url_for("acc"))
        range_reader = reader(planned, lambda settings=settings: StreamConnection.open(settings))  # type: ignore[misc]
        rest: Any = iter(range_reader)  # a generator
        seen = sequences([next(rest)])
        if not placed(url) <= {follower}:
            rest.close()  # its consumer is on another server
            continue
        process = server.process
        assert process is not None
        os.kill(process.pid, signal.SIGSTOP)
        try:
            js.publish(url, "S.a", b"y" * 1000, 20_000)
            range_reader.job = planned._replace(end=last + 20_001)
            asked.clear()
            thread = threading.Thread(target=lambda: seen.extend(sequences(rest)))  # noqa: B023
            thread.start()
            assert asked.wait(20)
        finally:
            os.kill(process.pid, signal.SIGCONT)
        thread.join()
        assert seen == list(range(last - 99, last + 20_001))
        assert range_reader.deleted == 0


def placed(url: str) -> set[str]:
    """The servers that consumers of the stream are on."""
    return {one["cluster"]["leader"] for one in js.ask_patiently(url, "CONSUMER.LIST.S")["consumers"] or []}


def test_a_query_is_planned_while_the_stream_has_no_leader(cluster: Cluster) -> None:
    fill(cluster.url)
    leader = js.ask(cluster.url, "STREAM.INFO.S")["cluster"]["leader"]
    others = ",".join(server.url_for("acc") for name, server in cluster.servers.items() if name != leader)
    options = parse_read_options({"servers": others, "stream": "S"})
    cluster.servers[leader].kill()
    try:
        seen = with_connection(options, lambda link: plan.fetch_stream(link, options))
        assert seen.end == COUNT + 1
    finally:
        cluster.servers[leader].start()
        cluster.wait()
