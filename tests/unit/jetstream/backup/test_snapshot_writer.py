"""Snapshots that jsctl writes itself."""

import asyncio
import os
from collections.abc import AsyncIterator

import pytest
from crc32c import crc32c

from jsctl.jetstream.backup.copy_resume import write_snapshot
from jsctl.jetstream.backup.s2 import ARCHIVE_END, FrameScanner
from jsctl.nats.acks import Metadata
from jsctl.nats.message import Message


def plain(data: bytes) -> int:
    """The checksum bit by bit."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def test_checksums_of_the_standard() -> None:
    """RFC 3720, appendix B.4."""
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert crc32c(b"\xff" * 32) == 0x62A8AB43
    assert crc32c(bytes(range(32))) == 0x46DD794E


@pytest.mark.parametrize("size", [0, 1, 3, 4, 5, 847, 848, 849, 1694, 1695, 1696, 5000, 40_003])
def test_checksums_of_any_size(size: int) -> None:
    data = os.urandom(size)
    assert crc32c(data) == plain(data)


@pytest.mark.parametrize("size", [0, 10, 300_000])
def test_whole_frames(size: int) -> None:
    async def messages() -> AsyncIterator[Message]:
        for sequence in range(1, 4):
            metadata = Metadata("S", sequence, "2026-11-21T11:47:58.5Z")
            yield Message("a.b", bytes(size), metadata=metadata)

    async def packed() -> bytes:
        return b"".join([piece async for piece in write_snapshot(messages(), {"first_seq": 1})])

    frames = FrameScanner()
    frames.feed(asyncio.run(packed()))
    assert frames.is_whole
    assert frames.ends_with(ARCHIVE_END)
    assert 3 * size < frames.unpacked < 3 * size + 200
