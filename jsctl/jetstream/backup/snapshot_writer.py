"""Snapshots that jsctl writes itself, of messages that it read: a server restores them as its own.

The entries are those of nats-server 2.15 (server/archive), in S2 frames that are not compressed
(google/snappy, framing_format.txt).
"""

import json
from collections.abc import AsyncIterator
from functools import lru_cache

from crc32c import crc32c

from jsctl.jetstream.api import Json
from jsctl.jetstream.backup.s2 import ARCHIVE_END
from jsctl.jetstream.backup.snapshot import Chunks
from jsctl.nats.message import Message
from jsctl.units import parse_time_ns

_BEGIN = b"\xff\x06\x00\x00S2sTwO"
_MAGIC = b"NATSARC1"
_BLOCK = 256 << 10
"""Bytes of a frame, about."""


async def pack(messages: AsyncIterator[Message], state: Json) -> Chunks:
    """A snapshot with these messages. state: of the stream that it makes, as STREAM.INFO has it."""
    yield _BEGIN
    block = [_MAGIC, _entry(b"state.json", 0, 0, b"", json.dumps(state).encode())]
    size = 0
    async for message in messages:
        time = parse_time_ns(message.timestamp)
        entry = _entry(message.subject.encode(), time, message.sequence, message.header_block, message.data)
        block.append(entry)
        size += len(entry)
        if size >= _BLOCK:
            for piece in _frames(b"".join(block)):
                yield piece
            block, size = [], 0
    for piece in _frames(b"".join([*block, ARCHIVE_END])):
        yield piece


def _frames(data: bytes) -> list[bytes]:
    """Frames of data that are not compressed: kind, length, masked checksum, data."""
    made = []
    for at in range(0, len(data), _BLOCK):
        piece = data[at : at + _BLOCK]
        crc = crc32c(piece)
        masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
        made.append(b"\x01" + (len(piece) + 4).to_bytes(3, "little") + masked.to_bytes(4, "little") + piece)
    return made


def _entry(name: bytes, time: int, sequence: int, header: bytes, data: bytes) -> bytes:
    folded = time * 2 if time >= 0 else -time * 2 - 1
    sizes = _length(len(header)), _length(len(data))
    return b"".join((_length(len(name)), _uvarint(folded), _uvarint(sequence), *sizes, name, header, data))


def _uvarint(number: int) -> bytes:
    made = bytearray()
    while number > 0x7F:
        made.append(number & 0x7F | 0x80)
        number >>= 7
    made.append(number)
    return bytes(made)


_length = lru_cache(4096)(_uvarint)  #: a stream has many messages of few sizes
