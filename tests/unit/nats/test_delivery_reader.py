"""Messages that a consumer delivers: read in runs, they are what they are one by one."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsctl.nats.codec import FrameParser
from jsctl.nats.delivery_reader import DeliveryReader
from jsctl.nats.message import Message, decode_message

STORED = b"NATS/1.0\r\nA: 1\r\n\r\n"
STATUS = b"HMSG i.1 7 %d %d\r\n%b\r\n"
heads = st.sampled_from((b"", STORED, b"NATS/1.0 503\r\n\r\n", b"NATS/1.0\r\nB: \xff\r\n\r\n"))
payloads = st.binary(max_size=60) | st.just(b"\r\nMSG s.a 7 $JS.ACK.S.c.1.9.9.1.0 0\r\n\r\n")
ENDS = (*(b".7", b".0") * 5, b".x", b"", b".7.random", b".0.1", b".7.1.2.3.4.5.6")
replies = st.tuples(
    st.sampled_from((*(b"$JS.ACK.",) * 8, b"$JS.ACK._.hash.", b"$JS.ACK.hub.hash.", b"$JS.FC.", b"")),
    st.sampled_from((*(b"S.c.1",) * 8, b"S.d.12", b"S\xff.c.1")),
    st.sampled_from(ENDS),
)
messages = st.tuples(st.sampled_from((b"s.a", b"s.\xc3\xa9", b"s.\xff")), heads, payloads, replies)


def frame(number: int, subject: bytes, block: bytes, payload: bytes, reply: tuple[bytes, ...]) -> bytes:
    prefix, names, end = reply
    answer = b"%b%b.%d.%d.1764365789123456789%b" % (prefix, names, number, number, end) if prefix else b""
    words = [b"HMSG" if block else b"MSG", subject, b"7", answer]
    words += [b"%d" % len(block)] if block else []
    line = b" ".join(filter(None, (*words, b"%d" % len(block + payload))))
    return b"%b\r\n%b%b\r\n" % (line, block, payload)


def read(data: bytes, cut: int, *, in_runs: bool, to_end: bool = False) -> list[Message]:
    parser, found = FrameParser(), list[Message]()

    def take(run: Sequence[Message]) -> None:
        places = [message.metadata for message in run]
        assert len({place and (place.stream, place.consumer) for place in places}) == 1
        assert not to_end or all(place and place.pending for place in places[:-1])
        found.extend(run)

    if in_runs:
        parser.bulk_readers[b"7"] = DeliveryReader(take, to_end=to_end)
    for at in range(0, len(data), cut):
        for _, sid, subject, reply, block, payload in parser.feed(data[at : at + cut]):
            if sid == b"7":
                found.append(decode_message(subject, reply, block, payload))
    assert parser.is_empty
    return found


@given(st.lists(messages, max_size=20), st.integers(1, 3000), st.booleans())
def test_runs_are_what_single_messages_are(
    sent: list[tuple[bytes, bytes, bytes, tuple[bytes, ...]]], cut: int, to_end: bool
) -> None:
    frames = [frame(n, *each) for n, each in enumerate(sent, 1)]
    status = b"NATS/1.0 409 Consumer Deleted\r\n\r\n"
    frames.insert(
        len(frames) // 2, STATUS % (len(status), len(status), status) + b"MSG o 8 3\r\nabc\r\nPING\r\n"
    )
    runs, single = (read(b"".join(frames), cut, in_runs=in_runs, to_end=to_end) for in_runs in (True, False))
    assert runs == single
    assert [(each.reply, each.metadata) for each in runs] == [(each.reply, each.metadata) for each in single]


@pytest.mark.parametrize(("to_end", "lengths"), [(False, [5]), (True, [1] * 5)])
def test_messages_that_no_other_follows_are_one_run_unless_the_first_is_the_end(
    to_end: bool, lengths: list[int]
) -> None:
    runs, parser = list[Sequence[Message]](), FrameParser()
    parser.bulk_readers[b"7"] = DeliveryReader(runs.append, to_end=to_end)
    frames = [frame(n, b"s.a", b"", b"x", (b"$JS.ACK.", b"S.c.1", b".0")) for n in range(1, 6)]
    assert not list(parser.feed(b"".join(frames)))
    assert list(map(len, runs)) == lengths
