"""Compressed payloads: gzip, zstd, and the streams of S2 and snappy."""

import zlib

from jsctl.errors import MissingDependency
from jsctl.jetstream.backup.s2_block import decompress_block
from jsctl.schema.remote.definitions import INSTALL_HINT

KINDS = ("gzip", "s2", "zstd")
AUTO = "auto"
MAX_SIZE = 256 << 20
"""Maximum number of bytes of a decompressed payload: a small payload can expand to any size."""

_MAGIC = {"gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd", "s2": b"\xff\x06\x00\x00"}
_COMPRESSED, _UNCOMPRESSED, _FIRST_SKIPPABLE = 0x00, 0x01, 0x80


def decompress(data: bytes, kind: str) -> bytes:
    """Return a payload decompressed. An empty one stays as it is.

    Args:
        kind: one of KINDS, or AUTO to detect it from the first bytes; an unknown payload stays as it is.

    Raises ValueError for a payload that is not of that kind, or is damaged, and MissingDependency.
    """
    if kind == AUTO:
        is_zstd = data.startswith(_MAGIC["zstd"], _skip_zstd_metadata(data))
        first = (name for name, magic in _MAGIC.items() if data.startswith(magic))
        kind = "zstd" if is_zstd else next(first, "")
    if not data or not kind:
        return data
    return {"gzip": _decompress_gzip, "zstd": _decompress_zstd, "s2": _decompress_s2}[kind](data)


def _decompress_gzip(data: bytes) -> bytes:
    parts: list[bytes] = []
    size = 0
    while data:  # members may follow each other
        stream = zlib.decompressobj(wbits=31)
        try:
            part = stream.decompress(data, MAX_SIZE - size + 1)
        except zlib.error as error:
            raise ValueError(f"it is not gzip: {error}") from None
        size += len(part)
        _check_size(size)
        if not stream.eof:
            raise ValueError("it is truncated")
        parts.append(part)
        data = stream.unused_data
    return b"".join(parts)


def _decompress_zstd(data: bytes) -> bytes:
    try:
        import zstandard
    except ImportError:
        raise MissingDependency("zstandard is not installed", INSTALL_HINT) from None
    try:
        stream = zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True)
        unpacked: bytes = stream.read(MAX_SIZE + 1)
        _check_size(len(unpacked))
        if not _is_whole_zstd(data):
            raise ValueError("it is truncated")
    except zstandard.ZstdError as error:
        raise ValueError(f"it is not zstd: {error}") from None
    return unpacked


def _skip_zstd_metadata(data: bytes) -> int:
    """Return where the first frame begins that is not skippable (RFC 8878, 3.1.2); 0 without such frames."""
    at = 0
    while data[at + 1 : at + 4] == b"\x2a\x4d\x18" and data[at] >> 4 == 5:
        at += 8 + int.from_bytes(data[at + 4 : at + 8], "little")
    return at


def _is_whole_zstd(data: bytes) -> bool:
    """Return whether the last frame is complete; the reader above stops silently at the end of the data."""
    import zstandard

    while data:
        stream = zstandard.ZstdDecompressor().decompressobj()
        stream.decompress(data)
        if not stream.eof:
            return False
        data = stream.unused_data
    return True


def _decompress_s2(data: bytes) -> bytes:
    parts: list[bytes] = []
    at = size = 0
    if not data.startswith(_MAGIC["s2"]):
        raise ValueError("it is not an S2 or snappy stream")
    while at < len(data):
        kind, length = data[at], int.from_bytes(data[at + 1 : at + 4], "little")
        body = data[at + 4 : at + 4 + length]
        if len(body) < length or at + 4 > len(data):
            raise ValueError("it is truncated")
        at += 4 + length
        if kind == _COMPRESSED:
            part = decompress_block(body[4:])
        elif kind == _UNCOMPRESSED:
            part = body[4:]
        elif kind >= _FIRST_SKIPPABLE:
            continue
        else:
            raise ValueError(f"it has a frame of the unknown kind {kind}")
        size += len(part)
        _check_size(size)
        parts.append(part)
    return b"".join(parts)


def _check_size(size: int) -> None:
    if size > MAX_SIZE:
        raise ValueError(f"it holds more than {MAX_SIZE >> 20} MiB")
