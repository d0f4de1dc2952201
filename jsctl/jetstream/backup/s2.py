"""The S2 frames of a snapshot, scanned without decompressing: the size of their data, and whether the end has
arrived.

Format: the framing of snappy (google/snappy, framing_format.txt) with the larger blocks and the
repeat codes of S2 (klauspost/compress, s2).
"""

from jsctl.errors import JsctlError

_COMPRESSED, _UNCOMPRESSED, _SKIPPABLE, _IDENTIFIER = 0x00, 0x01, 0x80, 0xFF
_HEAD_SIZE = 4  #: kind and length of a frame
_CRC_SIZE = 4
_UVARINT_MAX = 10
_MAX_BLOCK = 4 << 20
"""Maximum number of bytes of a block before compression (klauspost/compress: s2.MaxBlockSize is 4 MiB)."""
_MAX_FRAME = _MAX_BLOCK + _MAX_BLOCK // 6 + 64
"""Maximum number of bytes of a frame with data: a block that does not compress gets a little larger."""

_WRONG_SIZE = "a block does not have the size that it states"

ARCHIVE_END = bytes(5)
"""A snapshot ends with an entry whose five numbers are 0 (nats-server: stream_backup.go); the tar files of
servers before 2.15 end with zeros, too."""


class FrameScanner:
    """A scanner of an S2 stream, which is fed piece by piece.

    packed, unpacked: number of bytes so far, as they arrived and before compression.
    """

    def __init__(self) -> None:
        self.packed = 0
        self.unpacked = 0
        self._head = bytearray()  #: the first bytes of a frame, until its kind and length are complete
        self._remaining = 0  #: bytes of the frame that are still to come
        self._body: list[memoryview] = []  #: the last frame with data, without its head
        self._is_uncompressed = False
        self._has_data = False
        self._unpacked_size = 0  #: of that frame, 0 until known
        self._started = False

    def scan(self, chunk: bytes) -> None:
        """Process what a server sent. Raises JsctlError for data that is not a snapshot."""
        try:
            self.feed(chunk)
        except ValueError as error:
            raise JsctlError(f"the server did not send a snapshot: {error}") from None

    def feed(self, data: bytes) -> None:
        """Process the next piece of the stream. Raises ValueError for data that are not an S2 stream."""
        self.packed += len(data)
        view, at = memoryview(data), 0
        while at < len(view):
            if not self._remaining:
                head = view[at : at + _HEAD_SIZE - len(self._head)]
                self._head += head
                at += len(head)
                if len(self._head) < _HEAD_SIZE:
                    return
                self._begin_frame()
            piece = view[at : at + self._remaining]
            self._remaining -= len(piece)
            at += len(piece)
            if self._has_data:
                self._add_to_body(piece)

    @property
    def is_whole(self) -> bool:
        """Whether the stream stops at the end of a frame."""
        return self._started and not self._head and not self._remaining

    def ends_with(self, suffix: bytes) -> bool:
        """Return whether the data of the last frame end with these bytes. Raises ValueError for a broken
        frame."""
        body = b"".join(self._body)[_CRC_SIZE:]
        return (body if self._is_uncompressed else decompress_block(body)).endswith(suffix) if body else False

    def _begin_frame(self) -> None:
        kind, self._remaining = self._head[0], int.from_bytes(self._head[1:], "little")
        if not self._started and kind != _IDENTIFIER:
            raise ValueError("it does not start like S2 data")
        if kind not in (_COMPRESSED, _UNCOMPRESSED) and kind < _SKIPPABLE:
            raise ValueError("it holds a frame of an unknown kind")
        self._started = True
        self._head.clear()
        self._has_data = kind in (_COMPRESSED, _UNCOMPRESSED)
        if self._has_data:
            if not _CRC_SIZE <= self._remaining <= _MAX_FRAME:
                raise ValueError(
                    f"it holds a block of {self._remaining:,} bytes, at most {_MAX_FRAME:,} are valid"
                )
            self._is_uncompressed = kind == _UNCOMPRESSED
            self._body = []
            self._unpacked_size = 0
            if self._is_uncompressed:
                self.unpacked += self._remaining - _CRC_SIZE

    def _add_to_body(self, piece: memoryview) -> None:
        """Keep a piece of the frame; a compressed one has its unpacked size in its first bytes."""
        self._body.append(piece)
        if self._is_uncompressed or self._unpacked_size:
            return
        start = b"".join(self._body)[_CRC_SIZE : _CRC_SIZE + _UVARINT_MAX]
        if len(start) == _UVARINT_MAX or not self._remaining:
            self._unpacked_size = _read_block_size(start)[0]
            self.unpacked += self._unpacked_size


def decompress_block(block: bytes) -> bytes:
    """Return the data of one compressed block. Raises ValueError for a broken one."""
    size, at = _read_block_size(block)
    unpacked = bytearray()
    offset = 0
    try:
        while at < len(block):
            tag = block[at]
            at += 1
            kind, length = tag & 3, tag >> 2
            if kind == 0:  # literal bytes
                if length >= 60:
                    width = length - 59
                    length = int.from_bytes(block[at : at + width], "little")
                    at += width
                unpacked += block[at : at + length + 1]
                at += length + 1
                continue
            if kind == 1:  # a copy with a short offset, or from the last offset again
                length &= 7
                short_offset = (tag & 0xE0) << 3 | block[at]
                at += 1
                if short_offset:
                    offset = short_offset
                elif length >= 5:  # the last offset, with a longer length
                    width, base = length - 4, (4, 1 << 8, 1 << 16)[length - 5]
                    length = int.from_bytes(block[at : at + width], "little") + base
                    at += width
                length += 4
            else:  # a copy with an offset of two or four bytes
                width = 2 if kind == 2 else 4
                offset = int.from_bytes(block[at : at + width], "little")
                at += width
                length += 1
            if not 0 < offset <= len(unpacked):
                raise ValueError("a block refers to data outside of itself")
            if length > size - len(unpacked):
                raise ValueError(_WRONG_SIZE)
            piece = bytes(unpacked[len(unpacked) - offset : len(unpacked) - offset + length])
            unpacked += (piece * (length // len(piece) + 1))[:length]
    except IndexError:
        raise ValueError("a block is truncated") from None
    if len(unpacked) != size:
        raise ValueError(_WRONG_SIZE)
    return bytes(unpacked)


def _read_block_size(block: bytes) -> tuple[int, int]:
    """Return the size that a block states, and the offset of its data. Raises ValueError."""
    size = 0
    for at, byte in enumerate(block[:_UVARINT_MAX]):
        size |= (byte & 0x7F) << 7 * at
        if byte < 0x80:
            if size > _MAX_BLOCK:
                raise ValueError(f"it holds a block of {size:,} bytes, at most {_MAX_BLOCK:,} are valid")
            return size, at + 1
    raise ValueError("a number is truncated")
