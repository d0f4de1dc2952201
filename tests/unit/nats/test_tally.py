"""Messages that are counted where they are read, not made one by one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsctl.nats.codec import FrameParser, ProtocolError, Tally

payloads = st.binary(max_size=40) | st.just(b"\r\nMSG a 7 3\r\nabc\r\n")
messages = st.tuples(st.sampled_from((b"7", b"8")), st.booleans(), st.booleans(), payloads)


def frame(number: int, sid: bytes, has_headers: bool, replies: bool, payload: bytes) -> bytes:
    reply = b"r.%d " % number if replies else b""
    if has_headers:
        return b"HMSG a %b %b12 %d\r\nNATS/1.0\r\n\r\n%b\r\n" % (sid, reply, 12 + len(payload), payload)
    return b"MSG a %b %b%d\r\n%b\r\n" % (sid, reply, len(payload), payload)


@given(st.lists(messages, max_size=30), st.integers(1, 200), st.integers(1, 9), st.integers(0, 12))
def test_nothing_is_lost_or_counted_twice(
    sent: list[tuple[bytes, bool, bool, bytes]], cut: int, most: int, left: int
) -> None:
    data = b"".join(frame(number, *one) for number, one in enumerate(sent)) + b"PING\r\n"
    counted, size, replies = 0, 0, list[bytes]()

    def take(count: int, total: int, some: list[bytes]) -> None:
        nonlocal counted, size
        assert 0 < count <= most
        counted, size = counted + count, size + total
        replies.extend(some)

    parser = FrameParser()
    parser.bulk_readers[b"7"] = Tally(take, limit=most, remaining=left)
    chunks = [data[at : at + cut] for at in range(0, len(data), cut)]
    frames = [found for chunk in chunks for found in parser.feed(chunk)]
    plain = [b"r.%d" % n if r else b"" for n, (sid, h, r, _) in enumerate(sent) if sid == b"7" and not h]
    assert counted == min(left, len(plain))
    assert replies == [reply for reply in plain[:counted] if reply]
    assert len(frames) == len(sent) - counted + 1 and frames[-1][5] == b"PING\r\n" and parser.is_empty
    assert size + sum(len(found[5]) for found in frames[:-1]) == sum(len(one[3]) for one in sent)


@pytest.mark.parametrize(
    "data",
    [
        b"MSG a 7 -1\r\n",
        b"MSG a 7 999999999999\r\n",
        b"MSG a 7 2\r\nabcdef\r\n",
        b"MSX a 7 1\r\na\r\n",
        b"M" * 70_000,
    ],
)
def test_what_breaks_the_protocol_is_refused_as_without_it(data: bytes) -> None:
    parser = FrameParser()
    parser.bulk_readers[b"7"] = Tally(lambda count, size, replies: None)
    with pytest.raises(ProtocolError):
        list(parser.feed(b"MSG a 7 1\r\na\r\n" + data))
