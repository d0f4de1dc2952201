"""Snapshots that jsctl writes itself, of messages that it read: a server restores them as its own.

The entries are those of nats-server 2.15 (server/archive), in S2 frames that are not compressed
(google/snappy, framing_format.txt).
"""

import json
from collections.abc import AsyncIterator
from functools import lru_cache

from jsctl.jetstream.api import Json
from jsctl.jetstream.backup.s2 import ARCHIVE_END
from jsctl.jetstream.backup.snapshot import Chunks
from jsctl.jetstream.message.browse import Stored
from jsctl.units import parse_time_ns

_BEGIN = b"\xff\x06\x00\x00S2sTwO"
_MAGIC = b"NATSARC1"
_BLOCK = 256 << 10
"""Bytes of a frame, about."""


async def pack(messages: AsyncIterator[Stored], state: Json) -> Chunks:
    """A snapshot with these messages. state: of the stream that it makes, as STREAM.INFO has it."""
    yield _BEGIN
    block = [_MAGIC, _entry(b"state.json", 0, 0, b"", json.dumps(state).encode())]
    size = 0
    async for message in messages:
        time = parse_time_ns(message.time)
        entry = _entry(message.subject.encode(), time, message.sequence, message.header, message.data)
        block.append(entry)
        size += len(entry)
        if size >= _BLOCK:
            for piece in _frames(b"".join(block)):
                yield piece
            block, size = [], 0
    for piece in _frames(b"".join([*block, ARCHIVE_END])):
        yield piece


def crc32c(data: bytes) -> int:
    """The checksum of S2 frames (RFC 3720, appendix B.4).

    In plain Python a table takes a second for 12 MB. So the data are folded first: as a polynomial over
    GF(2), its high powers replaced by lower ones that leave the same remainder, which long integers do at
    once. `_FOLD` and its squares are multiples of the checksum's polynomial.
    """
    start = bytes(byte ^ 0xFF for byte in data[:4])
    value, bits = int.from_bytes(start + data[4:], "little"), len(data) * 8
    crc = 0xFFFFFFFF >> 8 * len(start) << 8 * len(start)
    scale = 1
    while _FOLD[0] * scale * 2 < bits:
        scale *= 2
    while scale:
        high, *lower = (power * scale for power in _FOLD)
        while (fold := min(bits - high, high - lower[0]) & ~7) > 0:
            top = value & ((1 << fold) - 1)  # the first byte has the highest powers
            value >>= fold
            for power in (*lower, 0):
                value ^= top << (high - power - fold)
            bits -= fold
        scale //= 2
    for byte in value.to_bytes(bits // 8, "little"):
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def _table() -> list[int]:
    table = list(range(256))
    for _ in range(8):
        table = [one >> 1 ^ (0x82F63B78 if one & 1 else 0) for one in table]
    return table


_TABLE = _table()
_FOLD = (6777, 484, 100)
"""x^6777 + x^484 + x^100 + 1 is a multiple of the polynomial; so is each of its squares."""


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
