"""ZIP files whose bytes are wrong, or that hold more than they say."""

import io
import random
import zipfile

import pytest

from jsctl.base.zip_files import open_zip, read_entry


def pack(data: bytes, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("x", data)
    return file.getvalue()


def read(packed: bytes, limit: int = 1 << 20) -> bytes:
    with open_zip(io.BytesIO(packed)) as archive:
        return read_entry(archive, "x", limit)


def test_a_file_is_read() -> None:
    assert read(pack(b"text"), 4) == b"text"
    assert read(pack(b"text", zipfile.ZIP_STORED), 4) == b"text"
    with pytest.raises(ValueError, match="it has more than 3 bytes"):
        read(pack(b"text"), 3)


def test_every_damage_is_a_value_error() -> None:
    packed = pack(random.Random(1).randbytes(60))
    refused = 0
    for place in range(len(packed)):
        for value in (0, 0xFF, packed[place] ^ 0x10):
            try:
                read(packed[:place] + bytes([value]) + packed[place + 1 :])
            except (ValueError, KeyError):
                refused += 1
    assert refused > len(packed)
    for size in range(len(packed)):
        with pytest.raises(ValueError):
            read(packed[:size])


def test_other_compression_is_refused() -> None:
    with pytest.raises(ValueError, match="compression method 14 is not supported"):
        read(pack(b"text", zipfile.ZIP_LZMA))
