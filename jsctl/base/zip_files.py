"""ZIP files from untrusted sources: a damaged one raises ValueError, and only a limited size is unpacked."""

import contextlib
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import BinaryIO

_KNOWN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_FAULTS = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError, OverflowError)
"""What zipfile raises besides ValueError. NotImplementedError is a RuntimeError."""


def open_zip(file: BinaryIO) -> zipfile.ZipFile:
    """Open the archive in an open file for reading. Raises ValueError for a file that is not an archive."""
    with _value_errors():
        return zipfile.ZipFile(file)


def read_entry(archive: zipfile.ZipFile, name: str, limit: int) -> bytes:
    """Return a file of an archive with at most `limit` bytes, whatever size the archive claims for it.

    Raises ValueError, KeyError.
    """
    entry = archive.getinfo(name)
    if entry.compress_type not in _KNOWN:
        raise ValueError(f"compression method {entry.compress_type} is not supported")
    with _value_errors(), archive.open(entry) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise ValueError(f"it has more than {limit:,} bytes")
    return data


@contextlib.contextmanager
def _value_errors() -> Iterator[None]:
    try:
        yield
    except _FAULTS as error:
        raise ValueError(str(error) or "it ends too early") from None
