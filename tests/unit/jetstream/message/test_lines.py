"""Lines in chunks of bytes."""

import pytest

from jsctl.errors import BadInput
from jsctl.jetstream.message.stdin import LineSplitter
from jsctl.nats.codec import MAX_PAYLOAD


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
def test_lines_are_the_same_however_they_arrive(size: int) -> None:
    text = b"one\r\n\ntwo\n\r\nthree"
    splitter = LineSplitter("stdin")
    lines = [line for i in range(0, len(text), size) for line in splitter.feed(text[i : i + size])]
    assert lines + splitter.end() == [b"one", b"", b"two", b"", b"three"]


def test_nothing_follows_the_last_line_end() -> None:
    splitter = LineSplitter("stdin")
    assert splitter.feed(b"one\n") == [b"one"]
    assert splitter.end() == []


@pytest.mark.parametrize("end", [b"", b"\n", b"\nmore\n"])
def test_no_line_is_longer_than_a_payload(end: bytes) -> None:
    splitter = LineSplitter("orders.jsonl")
    splitter.feed(bytes(MAX_PAYLOAD))
    with pytest.raises(BadInput, match=r"orders\.jsonl has a line of more than 67,108,864 bytes"):
        splitter.feed(b"x" + end)
