"""Cutting what a server sends: together and one by one must give the same."""

import socket
import sys
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsctl.contexts.settings import Settings
from jsctl.errors import MalformedAnswer
from jsctl.nats.addresses import ServerAddress
from jsctl.nats.protocol import READY
from jsctl.spark.source import connection, cutting, messages
from jsctl.spark.source.replies import AnswerLimits, Reply

INBOX = b"_INBOX.0123456789abcdef01234567"
MARK = b"\r\nHMSG " + INBOX + b"."
FAKE = (
    b"Nats-Stream: S\r\nNats-Subject: no\r\nNats-Sequence: 7\r\nNats-Time-Stamp: 2020-01-01T00:00:00Z\r\n"
    b"Nats-Num-Pending: 0\r\nNats-Last-Sequence: 0\r\n"
)


def reply(key: int, stream: bytes, sequence: int, subject: bytes, own: bytes, payload: bytes) -> bytes:
    head = (
        b"NATS/1.0\r\n%bNats-Stream: %b\r\nNats-Subject: %b\r\nNats-Sequence: %d\r\n"
        b"Nats-Time-Stamp: 2026-11-21T06:57:05.%09dZ\r\nNats-Num-Pending: 9\r\nNats-Last-Sequence: %d\r\n\r\n"
        % (own, stream, subject, sequence, sequence % 10**9, sequence - 1)
    )
    total = len(head) + len(payload)
    return b"HMSG %b.%d 1 %d %d\r\n%b%b\r\n" % (INBOX, key, len(head), total, head, payload)


def status(key: int) -> bytes:
    head = b"NATS/1.0 204 EOB\r\nNats-Num-Pending: 0\r\nNats-Last-Sequence: 5\r\n\r\n"
    return b"HMSG %b.%d 1 %d %d\r\n%b\r\n" % (INBOX, key, len(head), len(head), head)


def read(
    data: bytes, sizes: list[int], run: int, patch: pytest.MonkeyPatch
) -> dict[int, tuple[int, bool, list[Any]]]:
    """What a connection hands out that gets `data` in parts of these sizes."""
    patch.setattr(connection, "RUN", run)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        link = connection.StreamConnection(ours, ServerAddress(""), Settings(), "test")
        link.protocol.phase = READY
        link._mark = MARK
        link.watch("S")
        results = {key: Reply("S", AnswerLimits("x", 1 << 20, 0)) for key in (1, 2)}
        link._replies = {b"%d" % key: one for key, one in results.items()}
        at = 0
        while at < len(data):
            size = sizes.pop() if sizes else len(data)
            theirs.sendall(data[at : at + size])
            at += size
            wanted = link.received + len(data[at - size : at])
            while link.received < wanted:
                link.pump(time.monotonic() + 10)
        link._parse()
        assert link._filled == 0
    return {
        key: (one.status, one.is_foreign, one.join_messages().to_pylist()) for key, one in results.items()
    }


payloads = st.one_of(
    st.binary(max_size=40),
    st.sampled_from([b"\r\n", FAKE, MARK, reply(1, b"S", 3, b"S.x", b"", b"no"), status(2), b"PING\r\n"]),
)
owns = st.sampled_from([b"", b"", b"", b"A: 1\r\nA: 2\r\n", b"B: \xff\r\n", FAKE, b"Nats-Stream: T\r\n"])
subjects = st.sampled_from([b"S.a", b"S.b.c", b"S.\xff"])
streams = st.sampled_from([b"S"] * 30 + [b"T"])
between = st.sampled_from([b""] * 20 + [b"PING\r\n", b"+OK\r\n", b"INFO {}\r\n", b"MSG x 9 2\r\nhi\r\n"])
sent = st.lists(st.tuples(st.sampled_from([1, 2]), streams, subjects, owns, payloads, between), max_size=30)


@given(sent=sent, sizes=st.lists(st.integers(1, 3000), max_size=6))
def test_together_and_one_by_one(
    sent: list[tuple[int, bytes, bytes, bytes, bytes, bytes]], sizes: list[int]
) -> None:
    data = b""
    for number, (key, stream, subject, own, payload, more) in enumerate(sent):
        data += reply(key, stream, number + 1, subject, own, payload) + more
    data += status(1) + status(2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection.StreamConnection, "send", lambda self, data: None)
        together, single = read(data, [*sizes], 1, patch), read(data, [*sizes], 1 << 30, patch)
    assert together == single
    assert [one[0] for one in single.values()] == [204, 204]
    for key, (_, _, rows) in single.items():
        assert [row["data"] for row in rows] == [one[4] for one in sent if one[0] == key]
        assert [row["sequence"] for row in rows] == [n + 1 for n, one in enumerate(sent) if one[0] == key]


MIDDLE = b"\r\nNats-Stream: S\r\nNats-Subject: "


def test_usual_answers_are_split_together() -> None:
    """With headers of their own, of several requests, and payloads with line ends."""
    data = b"".join(reply(n % 2, b"S", n, b"S.a", b"A: 1\r\n" * (n % 3), b"x\r\n") for n in range(1, 50))
    result, end = cutting.cut_run(memoryview(data), MARK, [b"7", b"0", b"1"], MIDDLE)
    assert data.rindex(MARK) == end - 2  # what is behind the last one is not there yet
    assert {key: batch["sequence"].to_pylist() for key, batch in result} == {
        b"0": list(range(2, 49, 2)),
        b"1": list(range(1, 49, 2)),
    }


@pytest.mark.parametrize("first", [1, 9_999_990, 99_999_990, 10**16 - 10, 10**18 - 20])
def test_parts_of_answers_that_are_split_together(first: int) -> None:
    numbers = range(first, first + 20)
    replies = [
        reply(1, b"S", n, b"S.%d" % n, b"A: 1\r\nB: 2\r\n" if n % 2 else b"", b"x" * (n - first) * 7)
        for n in numbers
    ]
    [(key, batch)], end = cutting.cut_run(memoryview(b"".join([*replies, status(1)])), MARK, [b"1"], MIDDLE)
    assert key == b"1"
    assert end == sum(map(len, replies))
    assert batch["sequence"].to_pylist() == [*numbers]
    assert batch["subject"].to_pylist() == [b"S.%d" % n for n in numbers]
    assert batch["data"].to_pylist() == [b"x" * 7 * n for n in range(20)]
    assert batch["headers"].to_pylist() == [b"NATS/1.0" + b"\r\nA: 1\r\nB: 2" * (n % 2) for n in numbers]


def test_usual_answers_are_not_parsed_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two answers in what is received at once: only their ends, and what stands before them."""
    frames: list[int] = []
    parse = connection.StreamConnection._parse_frame
    monkeypatch.setattr(
        connection.StreamConnection,
        "_parse_frame",
        lambda self, at: frames.append(at) or parse(self, at),  # type: ignore[func-returns-value]
    )
    answers = [
        b"".join(reply(key, b"S", n, b"S.a", b"", b"x" * 100) for n in range(1, 300)) for key in (1, 2)
    ]
    read(answers[0] + status(1) + answers[1] + status(2), [], connection.RUN, monkeypatch)
    assert len(frames) == 2


def test_without_numpy_all_is_parsed_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"".join(reply(1, b"S", n, b"S.a", b"", b"x" * 100) for n in range(1, 300)) + status(1)
    together = read(data, [], connection.RUN, monkeypatch)
    monkeypatch.setitem(sys.modules, "jsctl.spark.source.cutting", None)
    monkeypatch.delattr("jsctl.spark.source.cutting")
    assert read(data, [], connection.RUN, monkeypatch) == together
    assert len(together[1][2]) == 299


@pytest.mark.parametrize("count", [0, 1, 2])
def test_nothing_is_a_batch_too(count: int) -> None:
    assert len(messages.join_batches([messages.build_batch()] * count)) == 0


@pytest.mark.slow
@pytest.mark.parametrize(("messages", "size"), [(3, 10), (2, 60 << 20)])
def test_an_answer_is_bounded_by_what_was_asked_for(messages: int, size: int) -> None:
    reply = Reply("S", AnswerLimits("$JS.API.DIRECT.GET.S", 2, 1000))
    data = bytes(size)
    with pytest.raises(MalformedAnswer, match="it has more messages"):
        for sequence in range(messages):
            reply.append(b"s", b"%d" % sequence, b"0", data, None)
