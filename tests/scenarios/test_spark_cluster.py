"""The range readers on a real cluster of three: followers that lag, leaders that move, servers that die."""

import contextlib
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jsctl.contexts.settings import Settings
from jsctl.errors import JsctlError
from jsctl.spark import plan
from jsctl.spark.direct import DirectReader
from jsctl.spark.options import parse
from jsctl.spark.pull import ConsumerReader
from jsctl.spark.reader import Job, RangeReader
from jsctl.spark.wire import Wire
from tests.support import js
from tests.support.servers import Cluster, RealServer

COUNT = 8_000


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    three = Cluster(tmp_path)
    try:
        yield three.start()
    finally:
        three.stop()


def patiently(url: str, subject: str, body: Any = None) -> dict[str, Any]:
    """A request that is made again while there is no leader."""
    deadline = time.monotonic() + 30
    while True:
        try:
            return js.ask(url, subject, body)
        except JsctlError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def fill(url: str) -> None:
    """The stream S with COUNT messages, on all three."""
    config = {"name": "S", "subjects": ["S.>"], "num_replicas": 3, "allow_direct": True, "storage": "file"}
    patiently(url, "STREAM.CREATE.S", config)
    js.publish(url, "S.a", b"x" * 100, COUNT)
    deadline = time.monotonic() + 30
    while patiently(url, "STREAM.INFO.S")["state"]["last_seq"] < COUNT:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def job(urls: str) -> Job:
    options = parse(
        {"servers": urls, "stream": "S", "batchSize": "100", "retries": "20", "requestTimeout": "2s"}
    )
    with contextlib.closing(Wire.open(options.settings)) as wire:
        seen = plan.look(wire, options)
    return plan.job(options, seen.created, seen.first, seen.end)


def trouble(servers: list[RealServer], stop: threading.Event) -> None:
    """Move the leader, and kill and restart one server after the other."""
    victim = 0
    while not stop.is_set():
        with contextlib.suppress(JsctlError):
            js.ask(servers[(victim + 1) % 3].url_for("acc"), "STREAM.LEADER.STEPDOWN.S")
        stop.wait(0.3)
        servers[victim].kill()
        stop.wait(0.3)
        servers[victim].start()
        stop.wait(1.5)
        victim = (victim + 1) % 3


@pytest.mark.parametrize("reader", [DirectReader, ConsumerReader])
def test_every_sequence_once_while_servers_die_and_leaders_move(
    cluster: Cluster, reader: type[RangeReader]
) -> None:
    fill(cluster.url)
    planned = job(cluster.url)
    stop = threading.Event()
    thread = threading.Thread(target=trouble, args=(list(cluster.servers.values()), stop))
    thread.start()
    try:
        begin = time.monotonic()
        while time.monotonic() - begin < 4:
            found = reader(planned, lambda: Wire.open(Settings(url=cluster.url)))
            seen: list[int] = []
            for chunk in found:
                seen += [int(row[1]) for row in chunk.rows]
                time.sleep(0.002)
            assert seen == list(range(1, COUNT + 1))
            assert (found.deleted, found.lost) == (0, 0)
    finally:
        stop.set()
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
            found = DirectReader(planned, lambda: Wire.open(Settings(url=cluster.url)))
            assert [int(row[1]) for chunk in found for row in chunk.rows] == list(
                range(planned.start, planned.end)
            )
            assert found.deleted == 0
    finally:
        stop.set()
        thread.join()
