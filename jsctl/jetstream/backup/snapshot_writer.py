"""Snapshots that jsctl writes itself, from messages that it read; a server restores them like its own.

The entries are those of nats-server 2.15 (server/archive), in S2 frames that are not compressed
(google/snappy, framing_format.txt).
"""

import json
from collections.abc import AsyncIterator
from functools import lru_cache

from crc32c import crc32c

from jsctl.base.units import parse_time_ns
from jsctl.jetstream.api import Json
from jsctl.jetstream.backup.s2 import ARCHIVE_END
from jsctl.jetstream.backup.snapshot import Chunks
from jsctl.nats.message import Message

_STREAM_IDENTIFIER = b"\xff\x06\x00\x00S2sTwO"
_ARCHIVE_MAGIC = b"NATSARC1"
_FRAME_SIZE = 256 << 10
"""Approximate number of bytes of data in a frame."""


async def write_snapshot(messages: AsyncIterator[Message], state: Json) -> Chunks:
    """Yield the bytes of a snapshot with these messages. state: the stream's, as in STREAM.INFO."""
    yield _STREAM_IDENTIFIER
    entries = [_ARCHIVE_MAGIC, _encode_entry(b"state.json", 0, 0, b"", json.dumps(state).encode())]
    size = 0
    async for message in messages:
        time = parse_time_ns(message.timestamp)
        entry = _encode_entry(
            message.subject.encode(), time, message.sequence, message.header_block, message.data
        )
        entries.append(entry)
        size += len(entry)
        if size >= _FRAME_SIZE:
            for frame in _build_frames(b"".join(entries)):
                yield frame
            entries, size = [], 0
    for frame in _build_frames(b"".join([*entries, ARCHIVE_END])):
        yield frame


def _build_frames(data: bytes) -> list[bytes]:
    """Return the frames of uncompressed data: kind, length, masked checksum, data."""
    frames = []
    for at in range(0, len(data), _FRAME_SIZE):
        piece = data[at : at + _FRAME_SIZE]
        crc = crc32c(piece)
        masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
        frames.append(b"\x01" + (len(piece) + 4).to_bytes(3, "little") + masked.to_bytes(4, "little") + piece)
    return frames


def _encode_entry(name: bytes, time: int, sequence: int, header_block: bytes, data: bytes) -> bytes:
    """Return an entry: lengths and numbers, then name, header block and data. time: ns since the epoch."""
    zigzag = time * 2 if time >= 0 else -time * 2 - 1
    sizes = _encode_length(len(header_block)), _encode_length(len(data))
    numbers = (_encode_length(len(name)), _encode_uvarint(zigzag), _encode_uvarint(sequence), *sizes)
    return b"".join((*numbers, name, header_block, data))


def _encode_uvarint(number: int) -> bytes:
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


_encode_length = lru_cache(4096)(_encode_uvarint)  #: a stream has many messages of few sizes
