"""Every block of the snapshots that a real server writes is unpacked, whatever the messages are: each frame
carries a checksum of what it held before it was compressed.
"""

import itertools
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from crc32c import crc32c
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from jsctl.jetstream.backup.files import DATA
from jsctl.jetstream.backup.s2 import ARCHIVE_END, FrameScanner, decompress_block
from tests.support import js
from tests.support.run import Cli

COMPRESSED, PLAIN = 0x00, 0x01

words = st.sampled_from([b"order ", b"customer ", b'{"id": ', b"0" * 70, b"\x00" * 300, b"\xff\xfe"])
texts = st.lists(st.one_of(words, st.binary(max_size=9)), max_size=15).map(b"".join)
repeats = st.builds(lambda text, times: text * times, texts, st.integers(1, 100))
# Random data that comes again with a few other bytes between makes copies from far away, and repeats.
patches = st.builds(
    lambda block, marks: b"".join(block + mark for mark in marks),
    st.binary(min_size=20, max_size=400),
    st.lists(st.binary(min_size=1, max_size=5), min_size=2, max_size=60),
)
payloads = st.one_of(texts, repeats, patches, st.binary(max_size=5000))

_numbers = itertools.count()


def frames_of(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The type and the body of each frame."""
    at = 0
    while at < len(data):
        length = int.from_bytes(data[at + 1 : at + 4], "little")
        yield data[at], data[at + 4 : at + 4 + length]
        at += 4 + length


def masked(data: bytes) -> int:
    """A frame's checksum (google/snappy: framing_format.txt, section 3)."""
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def unpacked(data: bytes) -> bytes:
    """All of a snapshot's archive; every checksum is right."""
    archive = bytearray()
    for kind, body in frames_of(data):
        if kind in (COMPRESSED, PLAIN):
            content = body[4:] if kind == PLAIN else decompress_block(body[4:])
            assert int.from_bytes(body[:4], "little") == masked(content)
            archive += content
    return bytes(archive)


@pytest.mark.slow
@settings(max_examples=40, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
@given(messages=st.lists(payloads, min_size=1, max_size=6), cut=st.integers(1, 1 << 20))
def test_any_messages(cli: Cli, url: str, tmp_path: Path, messages: list[bytes], cut: int) -> None:
    number = next(_numbers)
    name, folder = f"S{number}", tmp_path / str(number)
    js.stream(url, name, f"s.{number}")
    js.publish_all(url, ((f"s.{number}", payload) for payload in messages))
    cli(f"backup stream {name} {folder}", status=0)
    data = (folder / DATA).read_bytes()
    archive = unpacked(data)
    assert archive.endswith(ARCHIVE_END)
    assert all(payload in archive for payload in messages)
    walked = FrameScanner()
    for at in range(0, len(data), cut):
        walked.feed(data[at : at + cut])
    assert (walked.packed, walked.unpacked) == (len(data), len(archive))
    assert walked.is_whole and walked.ends_with(ARCHIVE_END)
    for kind, body in frames_of(data):
        if kind == COMPRESSED:
            check_broken(body[4:], cut)


def check_broken(block: bytes, where: int) -> None:
    """A block that is cut is refused; one with a changed byte is refused, or its checksum shows other data.

    Where a copy then comes from another place that holds the same bytes, nothing differs.
    """
    at = where % len(block)
    with pytest.raises(ValueError):
        decompress_block(block[:at])
    changed = bytearray(block)
    changed[at] ^= 1 << where % 8
    with suppress(ValueError):
        whole, damaged = decompress_block(block), decompress_block(bytes(changed))
        assert damaged == whole or masked(damaged) != masked(whole)
