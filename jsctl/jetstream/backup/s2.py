"""The S2 frames of a snapshot, walked without decompressing: how much they hold, whether the end is there.

Format: the framing of snappy (google/snappy, framing_format.txt) with the larger blocks and the
repeat codes of S2 (klauspost/compress, s2).
"""

_COMPRESSED, _PLAIN, _SKIPPABLE, _IDENTIFIER = 0x00, 0x01, 0x80, 0xFF
_HEAD = 4
_CRC = 4
ARCHIVE_END = bytes(5)
"""A snapshot ends with an entry whose five numbers are 0 (nats-server: stream_backup.go); the tar files of
servers before 2.15 end with zeros, too."""


class Frames:
    """Fed with a stream piece by piece, it knows the bytes that were packed.

    packed, unpacked: bytes so far, as they came and as they were before compression.
    """

    def __init__(self) -> None:
        self.packed = 0
        self.unpacked = 0
        self._head = bytearray()  #: the first bytes of a frame, until they say what it is
        self._missing = 0  #: bytes of the frame that are still to come
        self._body: list[memoryview] = []  #: the last frame with data, without its head
        self._plain = False
        self._data = False
        self._size = 0  #: of that frame, unpacked
        self._started = False

    def feed(self, data: bytes) -> None:
        """The next piece. Raises ValueError where this is no S2 stream."""
        self.packed += len(data)
        view, at = memoryview(data), 0
        while at < len(view):
            if not self._missing:
                taken = view[at : at + _HEAD - len(self._head)]
                self._head += taken
                at += len(taken)
                if len(self._head) < _HEAD:
                    return
                self._begin()
            piece = view[at : at + self._missing]
            self._missing -= len(piece)
            at += len(piece)
            if self._data:
                self._count(piece)

    @property
    def whole(self) -> bool:
        """Whether the stream stops at the end of a frame."""
        return self._started and not self._head and not self._missing

    def ends_with(self, wanted: bytes) -> bool:
        """Whether the data of the last frame end so. Raises ValueError for a broken one."""
        body = b"".join(self._body)[_CRC:]
        return (body if self._plain else unpack(body)).endswith(wanted) if body else False

    def _begin(self) -> None:
        kind, self._missing = self._head[0], int.from_bytes(self._head[1:], "little")
        self._check(kind)
        self._head.clear()
        self._data = kind in (_COMPRESSED, _PLAIN)
        if self._data:
            self._plain = kind == _PLAIN
            self._body = []
            self._size = 0
            if self._plain:
                self.unpacked += self._missing - _CRC

    def _count(self, piece: memoryview) -> None:
        """Keep a piece of the frame; a compressed one says its unpacked size in its first bytes."""
        self._body.append(piece)
        if self._plain or self._size:
            return
        start = b"".join(self._body)[_CRC : _CRC + 10]
        if len(start) == 10 or not self._missing:
            self._size = _uvarint(start, 0)[0]
            self.unpacked += self._size

    def _check(self, kind: int) -> None:
        if not self._started and kind != _IDENTIFIER:
            raise ValueError("it does not begin as S2 data do")
        if kind not in (_COMPRESSED, _PLAIN) and kind < _SKIPPABLE:
            raise ValueError("it holds a frame that S2 does not know")
        self._started = True


def unpack(block: bytes) -> bytes:
    """The data of one compressed block. Raises ValueError for a broken one."""
    size, at = _uvarint(block, 0)
    out = bytearray()
    offset = 0
    try:
        while at < len(block):
            tag = block[at]
            at += 1
            kind, length = tag & 3, tag >> 2
            if kind == 0:
                if length >= 60:
                    width = length - 59
                    length = int.from_bytes(block[at : at + width], "little")
                    at += width
                out += block[at : at + length + 1]
                at += length + 1
                continue
            if kind == 1:
                length &= 7
                far = (tag & 0xE0) << 3 | block[at]
                at += 1
                if far:
                    offset = far
                elif length >= 5:  # again from the offset before, with a longer length
                    width, more = length - 4, (4, 1 << 8, 1 << 16)[length - 5]
                    length = int.from_bytes(block[at : at + width], "little") + more
                    at += width
                length += 4
            else:
                width = 2 if kind == 2 else 4
                offset = int.from_bytes(block[at : at + width], "little")
                at += width
                length += 1
            if not 0 < offset <= len(out):
                raise ValueError("a block points outside of itself")
            piece = bytes(out[len(out) - offset : len(out) - offset + length])
            out += (piece * (length // len(piece) + 1))[:length]
    except IndexError:
        raise ValueError("a block is cut") from None
    if len(out) != size:
        raise ValueError("a block has not the size that it says")
    return bytes(out)


def _uvarint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data):
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at
    raise ValueError("a number is cut")
