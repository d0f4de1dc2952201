"""The S2 streams of snapshots: their frames as they arrive, and what the frames hold.

Format: the framing of snappy (google/snappy, framing_format.txt) with the larger blocks and the
repeat codes of S2 (klauspost/compress, s2). `s2.wat` decodes and encodes the blocks.
"""

import atexit
import threading
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from jsctl.base.checksums import crc32c
from jsctl.errors import JsctlError
from jsctl.jetstream.backup.machine import Machine
from jsctl.jetstream.backup.s2_block import MAX_BLOCK, UVARINT_MAX, read_block_size

STREAM_START = b"\xff\x06\x00\x00S2sTwO"
ARCHIVE_END = bytes(5)
"""A snapshot ends with an entry whose five numbers are 0 (nats-server: stream_backup.go); the tar files of
servers before 2.15 end with zeros, too."""

BLOCK_SIZE = 1 << 20
"""Bytes of data in the frames that jsctl writes, at most; servers write as many."""

_COMPRESSED, _UNCOMPRESSED, _SKIPPABLE, _IDENTIFIER = 0x00, 0x01, 0x80, 0xFF
_IDENTIFIERS = (b"S2sTwO", b"sNaPpY")
_HEAD_SIZE = 4  #: kind and length of a frame
_CRC_SIZE = 4
_MAX_FRAME = MAX_BLOCK + MAX_BLOCK // 6 + 64
"""Maximum number of bytes of a frame with data: a block that does not compress gets a little larger."""


class Frame(NamedTuple):
    """A complete frame. raw: all of its bytes, which begin with kind and length."""

    raw: bytes

    @property
    def has_data(self) -> bool:
        """Whether it holds data; otherwise it is one that readers skip, such as padding."""
        return self.raw[0] in (_COMPRESSED, _UNCOMPRESSED)

    @property
    def size(self) -> int:
        """Number of bytes of its data before compression. Raises ValueError."""
        if self.raw[0] == _COMPRESSED:
            start = _HEAD_SIZE + _CRC_SIZE
            return read_block_size(self.raw[start : start + UVARINT_MAX])[0]
        return len(self.raw) - _HEAD_SIZE - _CRC_SIZE if self.has_data else 0

    def decode(self) -> memoryview:
        """Return its data. Raises ValueError for a broken block or a wrong checksum."""
        block = memoryview(self.raw)[_HEAD_SIZE + _CRC_SIZE :]
        data = memoryview(decompress_block(block)) if self.raw[0] == _COMPRESSED else block
        if _mask(crc32c(data)) != self.raw[_HEAD_SIZE : _HEAD_SIZE + _CRC_SIZE]:
            raise ValueError("the checksum of a block is wrong")
        return data


class FrameReader:
    """An S2 stream that is fed piece by piece, as frames.

    missing: number of bytes up to the end of the frame's head, or of the frame.
    """

    def __init__(self) -> None:
        self.missing = _HEAD_SIZE
        self._parts: list[bytes | memoryview] = []  #: of the frame that is not complete
        self._has_head = False
        self._started = False

    @property
    def is_whole(self) -> bool:
        """Whether the stream stops at the end of a frame."""
        return self._started and not self._parts

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Yield the frames that are now complete, without identifiers; `data` must not change meanwhile.

        Raises ValueError for data that are not an S2 stream.
        """
        view = memoryview(data)
        while len(view):
            self._parts.append(view[: self.missing])
            self.missing -= len(self._parts[-1])
            view = view[len(self._parts[-1]) :]
            if not self.missing and not self._has_head:
                head = b"".join(self._parts)
                self.missing = self._check_head(head)
                self._parts, self._has_head = [head], True
            if self.missing:
                continue
            raw = b"".join(self._parts)
            self._parts, self._has_head, self.missing = [], False, _HEAD_SIZE
            self._started = True
            if raw[0] != _IDENTIFIER:
                yield Frame(raw)
            elif raw[_HEAD_SIZE:] not in _IDENTIFIERS:
                raise ValueError("it does not start like S2 data")

    def _check_head(self, head: bytes) -> int:
        """Return the length of a frame. Raises ValueError for one that is not valid here."""
        kind, length = head[0], int.from_bytes(head[1:], "little")
        if kind == _IDENTIFIER and length == len(_IDENTIFIERS[0]):
            return length
        if kind == _IDENTIFIER or not self._started:
            raise ValueError("it does not start like S2 data")
        if kind not in (_COMPRESSED, _UNCOMPRESSED):
            if kind < _SKIPPABLE:
                raise ValueError("it holds a frame of an unknown kind")
        elif not _CRC_SIZE <= length <= _MAX_FRAME:
            raise ValueError(f"it holds a block of {length:,} bytes, at most {_MAX_FRAME:,} are valid")
        return length


class FrameScanner:
    """A scanner of an S2 stream, which is fed piece by piece, and decodes only its last frame.

    packed, unpacked: number of bytes so far, as they arrived and, of complete frames, before compression.
    """

    def __init__(self) -> None:
        self.packed = 0
        self.unpacked = 0
        self._reader = FrameReader()
        self._first: Frame | None = None
        self._last: Frame | None = None

    def scan(self, chunk: bytes) -> None:
        """Process what a server sent. Raises JsctlError for data that is not a snapshot."""
        try:
            self.feed(chunk)
        except ValueError as error:
            raise JsctlError(f"the server did not send a snapshot: {error}") from None

    def feed(self, data: bytes) -> None:
        """Process the next piece of the stream. Raises ValueError for data that are not an S2 stream."""
        self.packed += len(data)
        for frame in self._reader.feed(data):
            if frame.has_data:
                self.unpacked += frame.size
                self._first, self._last = self._first or frame, frame

    @property
    def is_whole(self) -> bool:
        """Whether the stream stops at the end of a frame."""
        return self._reader.is_whole

    def starts_with(self, prefix: bytes) -> bool:
        """Return whether the data begin with these bytes. Raises ValueError for a broken frame."""
        return self._first is not None and bytes(self._first.decode()[: len(prefix)]) == prefix

    def ends_with(self, suffix: bytes) -> bool:
        """Return whether the data of the last frame end with these bytes. Raises ValueError for a broken
        frame."""
        return self._last is not None and bytes(self._last.decode()).endswith(suffix)


class _Codec:
    """The machine that decodes and encodes blocks, and where it does."""

    def __init__(self) -> None:
        self._machine = Machine("s2")
        self._input = self._machine.allocate(_MAX_FRAME)
        self._output = self._machine.allocate(2 * MAX_BLOCK)

    def decode(self, block: bytes | memoryview, size: int) -> bytes:
        start, end = self._input, self._output + size
        self._machine.view[start : start + len(block)] = block
        if self._machine.call("decode", start, start + len(block), self._output, end):
            raise ValueError("a block is broken")
        return bytes(self._machine.view[self._output : end])

    def encode(self, data: bytes | memoryview) -> bytes:
        """Return a block without its size; empty if it would not be smaller."""
        start = self._input
        self._machine.view[start : start + len(data)] = data
        end = self._machine.call("encode", start, start + len(data), self._output)
        return bytes(self._machine.view[self._output : end]) if end else b""


class _Codecs(threading.local):
    def __init__(self) -> None:
        self.codec = _Codec()


@cache
def _get_codecs() -> _Codecs:
    codecs = _Codecs()
    atexit.register(_get_codecs.cache_clear)
    return codecs


def decompress_block(block: bytes | memoryview) -> bytes:
    """Return the data of one compressed block. Raises ValueError for a broken one."""
    size, at = read_block_size(bytes(block[:UVARINT_MAX]))
    if len(block) > _MAX_FRAME:
        raise ValueError(f"a block has more than {_MAX_FRAME:,} bytes")
    return _get_codecs().codec.decode(memoryview(block)[at:], size)


def build_frame(data: bytes) -> bytes:
    """Return a frame with data, at most 4 MiB: compressed, if that makes it smaller."""
    block = _get_codecs().codec.encode(data)
    kind, content = (_COMPRESSED, encode_uvarint(len(data)) + block) if block else (_UNCOMPRESSED, data)
    length = (len(content) + _CRC_SIZE).to_bytes(3, "little")
    return b"".join((bytes([kind]), length, _mask(crc32c(data)), content))


def encode_uvarint(number: int) -> bytes:
    """Return a number below 2**64 as a varint."""
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def _mask(crc: int) -> bytes:
    """Return a checksum as a frame holds it (google/snappy: framing_format.txt, section 3)."""
    return (((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF).to_bytes(4, "little")
