"""The reader of Spark tasks against real servers, without Spark: every trap of batch direct get."""

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jsctl.contexts.settings import Settings
from jsctl.errors import Denied, Unreachable
from jsctl.spark.source import plan
from jsctl.spark.source.columns import parse_headers
from jsctl.spark.source.connection import StreamConnection
from jsctl.spark.source.direct import DirectReader
from jsctl.spark.source.options import ReadOptions, parse_read_options
from jsctl.spark.source.pull import ConsumerReader
from jsctl.spark.source.range_reader import DataLoss, RangeReader, ReadJob
from jsctl.spark.source.replies import AnswerLimits
from tests.support import js
from tests.support.lagging import with_client
from tests.support.servers import RealServer

BOTH = pytest.mark.parametrize("reader", [DirectReader, ConsumerReader])
Kind = type[RangeReader]


def options(url: str, stream: str = "S", **more: str) -> ReadOptions:
    return parse_read_options({"servers": url, "stream": stream, "requestTimeout": "3s", **more})


def job(url: str, stream: str = "S", **more: Any) -> ReadJob:
    """All that is in a stream now."""
    wanted = options(url, stream)
    with contextlib.closing(StreamConnection.open(wanted.settings)) as connection:
        seen = plan.fetch_stream(connection, wanted)
    result = plan.create_read_job(wanted, seen.created, seen.first, seen.end)
    return result._replace(**more)


def reading(kind: Kind, url: str, what: ReadJob) -> RangeReader:
    return kind(what, lambda: StreamConnection.open(Settings(url=url)))


def sequences(chunks: Any) -> list[int]:
    return [one for chunk in chunks for one in chunk["sequence"].to_pylist()]


def consumers(url: str, stream: str = "S") -> int:
    return int(js.ask(url, f"STREAM.INFO.{stream}")["state"]["consumer_count"])


def fill(url: str, count: int, stream: str = "S", size: int = 100, **config: Any) -> None:
    js.stream(url, stream, f"{stream}.>", allow_direct=True, **config)

    async def publish(client: Any) -> None:
        for number in range(count):
            await client.publish(f"{stream}.{number % 3}", b"%d " % (number + 1) + b"x" * size)
            if number % 1000 == 999:
                await client.flush()
        await client.flush()

    with_client(url, publish)
    js.wait_until_stored(url, stream, count)


def planned(url: str, **more: str) -> tuple[int, int, bool]:
    wanted = options(url, **more)
    with contextlib.closing(StreamConnection.open(wanted.settings)) as connection:
        seen = plan.fetch_stream(connection, wanted)
        return (*plan.resolve_range(connection, wanted, seen), seen.direct)


def delete(url: str, sequence: int, stream: str = "S") -> None:
    js.ask(url, f"STREAM.MSG.DELETE.{stream}", {"seq": sequence, "no_erase": True})


# -- what comes back ------------------------------------------------------------------------------


@BOTH
def test_everything_in_order_and_no_consumer_left(url: str, reader: Kind) -> None:
    fill(url, 5000)
    range_reader = reading(reader, url, job(url))
    chunks = list(range_reader)
    assert sequences(chunks) == list(range(1, 5001))
    rows = [row for chunk in chunks for row in chunk.to_pylist()]
    assert all(row["data"].startswith(b"%d " % row["sequence"]) for row in rows)
    assert {row["subject"] for row in rows} == {b"S.0", b"S.1", b"S.2"}
    assert (range_reader.deleted, range_reader.lost, range_reader.at) == (0, 0, 5001)
    assert consumers(url) == 0


@BOTH
@pytest.mark.parametrize(("start", "end"), [(1, 2), (1, 1001), (999, 2002), (3000, 3001), (2500, 2500)])
def test_ranges_are_half_open(url: str, reader: Kind, start: int, end: int) -> None:
    fill(url, 3000)
    range_reader = reading(reader, url, job(url, start=start, end=end))
    assert sequences(range_reader) == list(range(start, end))


def test_payloads_that_are_not_wanted_are_left_out(url: str) -> None:
    fill(url, 100, size=10_000)
    headers = {"K": "v", "Nats-Msg-Size": "of another"}
    with_client(url, lambda client: client.publish("S.h", b"y" * 10_000, headers=headers))
    js.wait_until_stored(url, "S", 101)
    received = []

    class Counting(StreamConnection):
        def close(self) -> None:
            received.append(self.received)
            super().close()

    for columns in ("subject,data", "sequence,timestamp,subject,headers"):
        wanted = options(url, columns=columns)
        with contextlib.closing(StreamConnection.open(wanted.settings)) as connection:
            seen = plan.fetch_stream(connection, wanted)
        assert seen.direct is wanted.payloads
        what = plan.create_read_job(wanted, seen.created, 1, 102)
        kind = DirectReader if seen.direct else ConsumerReader
        chunks = list(kind(what, lambda: Counting.open(Settings(url=url))))
        assert sequences(chunks) == list(range(1, 102))
    rows = [row for chunk in chunks for row in chunk.to_pylist()]
    assert {row["data"] for row in rows} == {b""} and rows[0]["subject"] == b"S.0"
    assert parse_headers(rows[0]["headers"]) is None
    assert parse_headers(rows[-1]["headers"]) == [("K", b"v"), ("Nats-Msg-Size", b"of another")]
    assert received[1] * 20 < received[0]


@BOTH
def test_interior_deletions_are_counted_or_refused(url: str, reader: Kind) -> None:
    fill(url, 3000)
    deleted = {2, 3, 999, 1000, 1001, 2999, 3000, *range(1500, 1600)}
    for sequence in deleted:
        delete(url, sequence)
    range_reader = reading(reader, url, job(url, batch=100))
    assert sequences(range_reader) == [n for n in range(1, 3001) if n not in deleted]
    assert (range_reader.deleted, range_reader.lost) == (len(deleted), 0)
    with pytest.raises(DataLoss, match="were deleted between"):
        list(reading(reader, url, job(url, fail_on_deleted=True)))


@BOTH
def test_a_stream_that_is_mostly_deleted(url: str, reader: Kind) -> None:
    fill(url, 4000)
    js.ask(url, "STREAM.PURGE.S", {"filter": "S.1"})
    js.ask(url, "STREAM.PURGE.S", {"filter": "S.0", "keep": 5})
    range_reader = reading(reader, url, job(url, start=2, batch=50, fail_on_loss=False))
    # The first message left is number 3: what was before it is lost, not deleted.
    assert sequences(range_reader) == [n for n in range(2, 4001) if n % 3 == 0 or (n % 3 == 1 and n > 3985)]
    assert (range_reader.lost, range_reader.deleted + len(sequences(reading(reader, url, job(url))))) == (
        1,
        3998,
    )


@BOTH
def test_head_truncation_since_planning(url: str, reader: Kind) -> None:
    fill(url, 3000)
    planned = job(url)
    delete(url, 2000)
    js.ask(url, "STREAM.PURGE.S", {"seq": 1501})
    with pytest.raises(
        DataLoss, match="now starts at sequence 1501, after the requested 1: 1,500 messages are lost"
    ):
        list(reading(reader, url, planned))
    range_reader = reading(reader, url, planned._replace(fail_on_loss=False))
    assert sequences(range_reader) == [*range(1501, 2000), *range(2001, 3001)]
    assert (range_reader.lost, range_reader.deleted) == (1500, 1)
    js.ask(url, "STREAM.PURGE.S")
    empty = reading(reader, url, planned._replace(fail_on_loss=False))
    assert sequences(empty) == []
    assert empty.lost == 3000


@BOTH
def test_another_stream_of_that_name_fails(url: str, reader: Kind) -> None:
    fill(url, 100)
    planned = job(url)
    js.ask(url, "STREAM.DELETE.S")
    with pytest.raises(DataLoss, match="stream S no longer exists"):
        list(reading(reader, url, planned))
    fill(url, 100)
    with pytest.raises(DataLoss, match="stream S was created again"):
        list(reading(reader, url, planned))


@BOTH
def test_a_stream_recreated_while_it_is_read_fails(url: str, reader: Kind) -> None:
    fill(url, 3000)
    chunks = iter(reading(reader, url, job(url)))
    next(chunks)
    js.ask(url, "STREAM.DELETE.S")
    fill(url, 3000)
    with pytest.raises(DataLoss, match="created again"):
        list(chunks)


@BOTH
def test_a_stream_that_was_rolled_back_fails(url: str, reader: Kind) -> None:
    fill(url, 100)
    planned = job(url, end=150)
    with pytest.raises(DataLoss, match="was rolled back: it was at sequence 149, now it ends at 100"):
        list(reading(reader, url, planned))


@BOTH
def test_stored_headers_that_imitate_the_servers(url: str, reader: Kind) -> None:
    js.stream(url, "S", "S.>", allow_direct=True)
    fake = (
        b"Nats-Stream: S\r\nNats-Subject: fake\r\nNats-Sequence: 777\r\n"
        b"Nats-Time-Stamp: 2020-01-01T00:00:00Z\r\nNats-Num-Pending: 0\r\nNats-Last-Sequence: 0\r\n"
    )
    stored = [
        fake,  # looks complete at its start, where the header goes on
        b"A: 1\r\nA: 2\r\na:3\r\nB: \xff\xfe\r\n" + fake,
        b"Status: 404\r\n",
        b"Nats-Stream: other\r\n",
    ]

    async def publish(client: Any) -> None:
        for raw in stored:
            head = b"NATS/1.0\r\n" + raw + b"\r\n"
            body = b"HMSG x 1 1 1\r\n"
            await client._send_command(
                b"HPUB S.a %d %d\r\n%b%b\r\n" % (len(head), len(head + body), head, body)
            )
        head = b"NATS/1.0 204 EOB\r\n\r\n"  # a stored status
        await client._send_command(b"HPUB S.a %d %d\r\n%bz\r\n" % (len(head), len(head) + 1, head))
        await client.jetstream().publish("S.a", b"last")  # all are stored when it is acknowledged

    with_client(url, publish)
    chunks = list(reading(reader, url, job(url)))
    assert sequences(chunks) == [1, 2, 3, 4, 5, 6]
    (chunk,) = chunks
    rows = chunk.to_pylist()
    assert {row["subject"] for row in rows} == {b"S.a"}
    assert all(row["time"].year > 2020 for row in rows)
    for row, raw in zip(rows, stored, strict=False):
        assert row["headers"].startswith(b"NATS/1.0\r\n" + raw.rstrip())
        assert row["data"] == b"HMSG x 1 1 1\r\n"
    assert [row["data"] for row in rows[4:]] == [b"z", b"last"]
    assert rows[5]["headers"] in (None, b"NATS/1.0")


@BOTH
@pytest.mark.parametrize("subject", ["S.1", "S.>", "S.none"])
def test_subject_filters(url: str, reader: Kind, subject: str) -> None:
    fill(url, 3000)
    range_reader = reading(reader, url, job(url, subjects=(subject,), batch=100, start=10, end=2990))
    wanted = {"S.1": [n for n in range(10, 2990) if n % 3 == 2], "S.>": list(range(10, 2990)), "S.none": []}
    assert sequences(range_reader) == wanted[subject]
    assert (range_reader.deleted, range_reader.lost) == (0, 0)


def test_of_a_subject_with_few_messages_more_are_asked_for_but_not_those_of_other_tasks(url: str) -> None:
    js.stream(url, "S", "S.>", allow_direct=True)
    js.publish_all(url, ((f"S.{number % 50}", b"") for number in range(1, 10_001)))
    requested = []

    class Counting(StreamConnection):
        def ask(self, limits: AnswerLimits, data: bytes) -> Any:
            requested.append(json.loads(data)["batch"])
            return super().ask(limits, data)

    what = job(url, subjects=("S.7",), batch=20, end=8001)
    assert sequences(DirectReader(what, lambda: Counting.open(Settings(url=url)))) == list(range(7, 8001, 50))
    assert len(requested) == 2 and 160 <= sum(requested) < 200


def test_several_filters_need_a_consumer(url: str) -> None:
    fill(url, 300)
    range_reader = reading(ConsumerReader, url, job(url, subjects=("S.1", "S.2")))
    assert sequences(range_reader) == [n for n in range(1, 301) if n % 3 != 1]


@BOTH
def test_large_messages_end_an_answer_early(url: str, reader: Kind) -> None:
    fill(url, 60, size=200_000)
    assert sequences(reading(reader, url, job(url, max_bytes=1 << 20))) == list(range(1, 61))
    assert sequences(reading(reader, url, job(url, max_bytes=1))) == list(range(1, 61))


# -- connections that end -------------------------------------------------------------------------


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Callable[[str], RealServer]]:
    """Start servers with a configuration of the test's own."""
    started: list[RealServer] = []

    def start(more: str = "") -> RealServer:
        config = 'listen: "127.0.0.1:{port}"\njetstream { store_dir: "{store}" }\n' + more
        server = RealServer(tmp_path / f"own{len(started)}", config).start()
        started.append(server)
        return server

    yield start
    for server in started:
        server.stop()


def test_a_slow_reader_that_is_disconnected_continues(
    own_server: Callable[[str], RealServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = socket.create_connection

    def small(*args: Any, **more: Any) -> socket.socket:
        result = connect(*args, **more)
        result.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)  # else the kernel may hold 32 MiB
        return result

    monkeypatch.setattr("jsctl.nats.blocking.socket.create_connection", small)
    server = own_server('write_deadline: "200ms"\n')
    fill(server.url, 400, size=200_000)
    range_reader = reading(DirectReader, server.url, job(server.url, batch=100, max_bytes=64 << 20))
    seen: list[int] = []
    for chunk in range_reader:
        seen += sequences([chunk])
        deadline = time.monotonic() + 5
        while len(seen) <= 200 and time.monotonic() < deadline:  # 20 MB wait to be read meanwhile
            if "Slow Consumer Detected" in server.log.read_text():
                break
            time.sleep(0.05)
    assert "Slow Consumer Detected" in server.log.read_text(), "it was never cut off"
    assert seen == list(range(1, 401))


@pytest.mark.long
@BOTH
def test_a_server_that_is_killed_and_comes_back(
    own_server: Callable[[str], RealServer], reader: Kind
) -> None:
    server = own_server("")
    fill(server.url, 5000)
    range_reader = reading(reader, server.url, job(server.url, batch=100, retries=8))
    seen: list[int] = []
    for chunk in range_reader:
        seen += sequences([chunk])
        if 1000 <= len(seen) < 1000 + len(chunk):
            server.kill()
            threading.Timer(0.5, server.start).start()
    assert seen == list(range(1, 5001))
    assert range_reader.deleted == range_reader.lost == 0


@pytest.mark.long
@BOTH
def test_a_server_that_stays_away_fails_in_the_end(
    own_server: Callable[[str], RealServer], reader: Kind
) -> None:
    server = own_server("")
    fill(server.url, 2000)
    range_reader = reading(reader, server.url, job(server.url, batch=100, retries=2, retry_timeout=0))
    begin = time.monotonic()
    with pytest.raises(Unreachable, match="connection refused"):
        for _ in range_reader:
            server.kill()
    assert time.monotonic() - begin < 5


def test_pings_and_infos_in_between(own_server: Callable[[str], RealServer]) -> None:
    server = own_server('ping_interval: "100ms"\nping_max: 2\n')
    fill(server.url, 3000)
    range_reader = reading(DirectReader, server.url, job(server.url, batch=100))
    seen: list[int] = []
    for chunk in range_reader:
        seen += sequences([chunk])
        if len(seen) % 1000 == 0:
            time.sleep(0.15)  # longer than the interval of PINGs
            server.config.write_text(server.config.read_text() + f"\n# {len(seen)}\n")
            assert server.process is not None
            server.process.send_signal(1)  # a reload
    assert seen == list(range(1, 3001))


@pytest.mark.parametrize("size", [1, 2, 7, 50, 333, 5000])
def test_replies_split_anywhere(url: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(url, 60 if size < 10 else 1000)
    monkeypatch.setattr("jsctl.nats.blocking.CHUNK", size)
    assert len(sequences(reading(DirectReader, url, job(url)))) == (60 if size < 10 else 1000)


def test_without_the_right_to_direct_get_a_consumer_reads(own_server: Callable[[str], RealServer]) -> None:
    server = own_server(
        "authorization { users: [ {user: a, password: a}, {user: b, password: b, permissions: {publish: "
        '{deny: ["$JS.API.DIRECT.GET.>"]}}} ] }\n'
    )
    fill(server.url_for("a"), 100)
    limited = server.url_for("b")
    assert planned(limited) == (1, 101, False)
    with pytest.raises(Denied, match=r"not allowed to publish to \$JS.API.DIRECT.GET.S"):
        list(reading(DirectReader, limited, job(limited)))
    assert sequences(reading(ConsumerReader, limited, job(limited))) == list(range(1, 101))
