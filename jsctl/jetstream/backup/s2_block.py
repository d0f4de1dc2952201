"""Blocks of S2 and snappy (klauspost/compress, s2), in Python alone: executors of Spark have nothing else.

Where there is wasmtime, `s2.py` decodes them a hundred times as fast.
"""

UVARINT_MAX = 10
"""Maximum number of bytes of the size that begins a block."""

MAX_BLOCK = 4 << 20
"""Maximum number of bytes of a block before compression (klauspost/compress: s2.MaxBlockSize is 4 MiB)."""

_WRONG_SIZE = "a block does not have the size that it states"


def decompress_block(block: bytes) -> bytes:
    """Return the data of one compressed block. Raises ValueError for a broken one."""
    size, at = read_block_size(block)
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


def read_block_size(block: bytes) -> tuple[int, int]:
    """Return the size that a block states, and the offset of its data. Raises ValueError."""
    size = 0
    for at, byte in enumerate(block[:UVARINT_MAX]):
        size |= (byte & 0x7F) << 7 * at
        if byte < 0x80:
            if size > MAX_BLOCK:
                raise ValueError(f"it holds a block of {size:,} bytes, at most {MAX_BLOCK:,} are valid")
            return size, at + 1
    raise ValueError("a number is truncated")
