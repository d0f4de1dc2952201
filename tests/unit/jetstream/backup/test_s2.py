"""Walking and unpacking S2 data: vectors of the format, and whatever blocks can hold.

Format: google/snappy (format_description.txt, framing_format.txt) and klauspost/compress (s2/README.md,
"Format Extensions").
"""

from contextlib import suppress
from typing import NamedTuple

import pytest
from crc32c import crc32c
from hypothesis import given
from hypothesis import strategies as st

from jsctl.jetstream.backup import s2_block
from jsctl.jetstream.backup.s2 import (
    STREAM_START,
    Frame,
    FrameReader,
    FrameScanner,
    build_frame,
    decompress_block,
)

DECODERS = (decompress_block, s2_block.decompress_block)
"""That of wasmtime, and that of executors of Spark."""

IDENTIFIER = b"\xff\x06\x00\x00S2sTwO"
ABCD = b"\x0cabcd"


@pytest.mark.parametrize(
    ("block", "data"),
    [
        (b"\x00", b""),
        (b"\x04" + ABCD, b"abcd"),
        (b"\x3d\xf0\x3c" + b"x" * 61, b"x" * 61),  # a literal with its length in one byte
        (b"\xac\x02\xf4\x2b\x01" + b"x" * 300, b"x" * 300),  # in two
        (b"\xac\x02\xf8\x2b\x01\x00" + b"x" * 300, b"x" * 300),  # in three
        (b"\xac\x02\xfc\x2b\x01\x00\x00" + b"x" * 300, b"x" * 300),  # in four
        (b"\x08" + ABCD + b"\x01\x04", b"abcdabcd"),  # a copy with 11 bits of offset
        (b"\x0f" + ABCD + b"\x1d\x02", b"abcd" + b"cd" * 5 + b"c"),  # that overlaps what it writes
        (b"\x05" + ABCD + b"\x02\x04\x00", b"abcda"),  # a copy of one byte, 16 bits of offset
        (b"\x08" + ABCD + b"\x0f\x03\x00\x00\x00", b"abcdbcdb"),  # 32 bits of offset
        (b"\x0c" + ABCD + b"\x01\x04\x01\x00", b"abcd" * 3),  # 4 bytes again from the offset before
        (b"\x10" + ABCD + b"\x01\x04\x11\x00", b"abcd" * 4),  # 8 bytes
        (b"\x12" + ABCD + b"\x01\x04\x15\x00\x02", b"abcd" * 4 + b"ab"),  # 8 and one byte's number
        (b"\x8e\x02" + ABCD + b"\x01\x04\x19\x00\x02\x00", (b"abcd" * 68)[:270]),  # 260 and two bytes'
        (b"\x8e\x80\x04" + ABCD + b"\x01\x04\x1d\x00\x02\x00\x00", (b"abcd" * 16388)[:65550]),
    ],
)
def test_vectors(block: bytes, data: bytes) -> None:
    for decode in DECODERS:
        assert decode(block) == data


@pytest.mark.parametrize(
    "block",
    [
        b"",
        b"\x80",  # the size does not end
        b"\x05" + ABCD,  # fewer bytes than it says
        b"\x03" + ABCD,  # more
        b"\x04\x0cabc",  # a literal that is cut
        b"\x08" + ABCD + b"\x01",  # a copy that is cut
        b"\x08" + ABCD + b"\x01\x05",  # from before the beginning
        b"\x08" + ABCD + b"\x0e\x00\x00",  # from nowhere
        b"\x08" + ABCD + b"\x01\x00",  # again, with no offset before
    ],
)
def test_broken_blocks(block: bytes) -> None:
    for decode in DECODERS:
        with pytest.raises(ValueError):
            decode(block)


class Copy(NamedTuple):
    """Bytes that are taken from what is there. back: offset, as a fraction of what is there."""

    back: float
    length: int
    form: int  #: 1 short, 2, 3 long, 0 with the offset before


literals = st.one_of(
    st.binary(min_size=1, max_size=80), st.binary(min_size=1, max_size=4).map(lambda b: b * 90)
)
copies = st.builds(Copy, st.floats(0, 1), st.integers(1, 70_000), st.sampled_from([0, 1, 2, 3]))


def pack(pieces: list[bytes | Copy]) -> tuple[bytes, bytes]:
    """A block of these pieces, and the data that it holds."""
    block, data, offset = bytearray(), bytearray(), 0
    for piece in pieces:
        if isinstance(piece, bytes):
            length = len(piece) - 1
            if length < 60:
                block.append(length << 2)
            else:
                block += bytes([61 << 2]) + length.to_bytes(2, "little")
            block += piece
            data += piece
            continue
        if not data:
            continue
        form = piece.form if offset else piece.form or 2
        offset = (
            offset if form == 0 else 1 + int(piece.back * (min(len(data), 2047 if form == 1 else 65535) - 1))
        )
        if form == 0:
            length = max(4, piece.length)
            if length < 9:
                block += bytes([(length - 4) << 2 | 1, 0])
            elif length < 260:
                block += bytes([5 << 2 | 1, 0, length - 8])
            elif length < 65540:
                block += bytes([6 << 2 | 1, 0]) + (length - 260).to_bytes(2, "little")
            else:
                block += bytes([7 << 2 | 1, 0]) + (length - 65540).to_bytes(3, "little")
        elif form == 1:
            length = 4 + piece.length % 8
            block += bytes([(offset >> 8) << 5 | (length - 4) << 2 | 1, offset & 0xFF])
        else:
            length = 1 + piece.length % 64
            block += bytes([(length - 1) << 2 | form]) + offset.to_bytes(2 if form == 2 else 4, "little")
        for _ in range(length):
            data.append(data[-offset])
    return uvarint(len(data)) + block, bytes(data)


def uvarint(value: int) -> bytes:
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])


@given(pieces=st.lists(st.one_of(literals, copies), max_size=12))
def test_any_block_is_unpacked(pieces: list[bytes | Copy]) -> None:
    block, data = pack(pieces)
    for decode in DECODERS:
        assert decode(block) == data


@given(block=st.binary(max_size=60))
def test_any_bytes_are_a_block_or_refused(block: bytes) -> None:
    for decode in DECODERS:
        with suppress(ValueError):
            decode(block)


def frame(kind: int, body: bytes) -> bytes:
    return bytes([kind]) + len(body).to_bytes(3, "little") + body


def crc(data: bytes) -> bytes:
    """A frame's checksum (google/snappy: framing_format.txt, section 3)."""
    value = crc32c(data)
    return (((value >> 15 | value << 17) + 0xA282EAD8) & 0xFFFFFFFF).to_bytes(4, "little")


STREAM = (
    IDENTIFIER
    + frame(0x01, crc(b"plain") + b"plain")
    + frame(0xFE, bytes(7))  # padding
    + frame(0x00, crc(b"abcdabcd") + b"\x08" + ABCD + b"\x01\x04")
)


@given(sizes=st.lists(st.integers(1, 12), max_size=60))
def test_frames_in_any_pieces(sizes: list[int]) -> None:
    frames, at = FrameScanner(), 0
    for size in [*sizes, len(STREAM)]:
        frames.feed(STREAM[at : at + size])
        at += size
    assert frames.is_whole
    assert (frames.packed, frames.unpacked) == (len(STREAM), len(b"plainabcdabcd"))
    assert frames.ends_with(b"dabcd") and not frames.ends_with(b"plain")


@pytest.mark.parametrize("length", range(len(STREAM)))
def test_a_truncated_stream_is_incomplete(length: int) -> None:
    frames = FrameScanner()
    frames.feed(STREAM[:length])
    ends = [len(IDENTIFIER), len(IDENTIFIER) + 13, len(IDENTIFIER) + 13 + 11]
    assert frames.is_whole == (length in ends)


def test_what_is_not_s2() -> None:
    with pytest.raises(ValueError, match="start"):
        FrameScanner().feed(b"\x1f\x8b\x08\x00")
    with pytest.raises(ValueError, match="frame"):
        FrameScanner().feed(IDENTIFIER + frame(0x02, b""))


@given(pieces=st.lists(st.one_of(literals, copies), max_size=12))
def test_what_is_encoded_is_decoded(pieces: list[bytes | Copy]) -> None:
    _, data = pack(pieces)
    (decoded,) = FrameReader().feed(STREAM_START + build_frame(data))
    assert decoded.decode() == data
    assert len(build_frame(data)) <= len(data) + 12


@pytest.mark.parametrize("at", range(4, 8))
def test_a_wrong_checksum_is_refused(at: int) -> None:
    raw = bytearray(build_frame(b"abcd"))
    raw[at] ^= 1
    with pytest.raises(ValueError, match="checksum"):
        Frame(bytes(raw)).decode()
