"""Replies to batch direct gets: read in runs, they are what they are one by one."""

from hypothesis import given
from hypothesis import strategies as st

from jsctl.nats.codec import FrameParser
from jsctl.nats.direct_get import BatchDecoder
from jsctl.nats.message import decode_message

STORED = b"\r\nNats-Stream: S\r\nNats-Subject: x\r\nNats-Sequence: 9\r\nNats-Time-Stamp: t"
headers = st.sampled_from((b"", b"\r\nA: 1", b"\r\nA: 1\r\nB: \xff", STORED))
payloads = st.binary(max_size=60) | st.just(b"\r\nHMSG _INBOX.x 7 12 12\r\nNATS/1.0\r\n\r\n\r\n")
replies = st.tuples(st.sampled_from((b"s.a", b"s.\xc3\xa9", b"s.\xff")), headers, payloads)
faults = st.sampled_from(("", "", "", "foreign", "gap", "single", "reply"))


def frame(number: int, subject: bytes, stored: bytes, payload: bytes, fault: str) -> bytes:
    previous = number + 7 if fault == "gap" else number - 1
    block = b"NATS/1.0%b\r\nNats-Stream: %b\r\n" % (stored, b"T" if fault == "foreign" else b"S")
    block += b"Nats-Subject: %b\r\nNats-Sequence: %d\r\nNats-Time-Stamp: 2026-01-01T00:00:00Z\r\n" % (
        subject,
        number,
    )
    if fault != "single":
        block += b"Nats-Num-Pending: 5\r\nNats-Last-Sequence: %d\r\n" % previous
    block += b"\r\n"
    sid = b"7 r" if fault == "reply" else b"7"
    return b"HMSG _INBOX.x %b %d %d\r\n%b%b\r\n" % (
        sid,
        len(block),
        len(block + payload),
        block,
        payload,
    )


def read(data: bytes, cut: int, *, in_runs: bool) -> BatchDecoder:
    parser, decoder = FrameParser(), BatchDecoder("S")
    if in_runs:
        parser.bulk_readers[b"7"] = decoder
    for at in range(0, len(data), cut):
        for _, sid, subject, reply, block, payload in parser.feed(data[at : at + cut]):
            if sid == b"7":
                decoder.decode(decode_message(subject, reply, block, payload))
    assert parser.is_empty
    return decoder


@given(st.lists(replies, max_size=20), st.integers(0, 19), faults, st.integers(1, 3000), st.booleans())
def test_runs_are_what_single_replies_are(
    sent: list[tuple[bytes, bytes, bytes]], at: int, fault: str, cut: int, has_end: bool
) -> None:
    frames = [frame(n, *one, fault if n == at + 1 else "") for n, one in enumerate(sent, 1)]
    frames.insert(len(frames) // 2, b"MSG other 8 3\r\nabc\r\nPING\r\n")
    end = b"NATS/1.0 204 EOB\r\nNats-Num-Pending: 3\r\nNats-Last-Sequence: %d\r\n\r\n" % len(sent)
    data = b"".join(frames)
    data += b"HMSG _INBOX.x 7 %d %d\r\n%b\r\n" % (len(end), len(end), end) if has_end else b""
    runs, single = read(data, cut, in_runs=True), read(data, cut, in_runs=False)
    assert runs.messages == single.messages
    assert [message.metadata for message in runs.messages] == [each.metadata for each in single.messages]
    assert all(getattr(runs, name) == getattr(single, name) for name in ("last", "status", "pending"))
    flags = ("is_foreign", "has_gap", "is_single")
    assert [getattr(runs, name) for name in flags] == [getattr(single, name) for name in flags]
    if fault in ("", "reply") or at >= len(sent):
        assert [(each.sequence, each.data) for each in runs.messages] == [
            (n, payload) for n, (_, _, payload) in enumerate(sent, 1)
        ]
