"""Recorded rounds of a report, in a file that only grows.

A round is one line of JSON, compressed as a gzip member of its own, so that `zcat FILE` prints all of them.
An extra field of the member (RFC 1952, 2.3.1.1) holds its length and its time, so that rounds are found
without decompressing. A round that a kill left half written is cut off when the file is opened again.
"""

import contextlib
import json
import math
import os
import shutil
import struct
import time
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from jsctl.base.command_lines import build_line
from jsctl.base.files import open_atomically, open_pipe, open_seekable, sweep
from jsctl.base.json_text import parse_json
from jsctl.errors import BadInput, JsctlError

VERSION = 1

_HEADER = struct.Struct(
    "<4sIBBH2sHIQ"
)  # magic, mtime, XFL, OS, XLEN, subfield, its length; size, ms since 1970
_MAGIC, _SUBFIELD, _PAYLOAD = b"\x1f\x8b\x08\x04", b"JC", 12
_TRAILER = struct.Struct("<II")
_MAX_ROUND_SIZE = 64 << 20  #: bytes of a round
_MAX_TIME = 253_402_214_400_000  #: ms since 1970, a day before the end of the year 9999
_TRIM_EVERY = 3600.0  #: seconds between two removals of old rounds


MAX_ROUNDS = 5_000_000
"""How many rounds a file may have: 58 days of one each second. Each takes 16 bytes of memory."""

_TOO_MANY = f"more than {MAX_ROUNDS:,} rounds, which is the limit of a file"


class _Header(NamedTuple):
    """The header of a round. at: seconds since 1970. size: bytes of the header and the round."""

    at: float
    size: int


class _Index(NamedTuple):
    """The complete rounds of a file, in order.

    times: in seconds since 1970. offsets: where each begins. end: where the last one ends.
    """

    times: "array[float]"
    offsets: "array[int]"
    end: int


def encode_round(document: Mapping[str, Any], at: float) -> bytes:
    """Return a round as a gzip member. at: seconds since 1970."""
    line = json.dumps(document, separators=(",", ":")).encode() + b"\n"
    deflate = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS)
    body = deflate.compress(line) + deflate.flush()
    size = _HEADER.size + len(body) + _TRAILER.size
    header = _HEADER.pack(_MAGIC, int(at), 0, 255, 4 + _PAYLOAD, _SUBFIELD, _PAYLOAD, size, round(at * 1000))
    return header + body + _TRAILER.pack(zlib.crc32(line), len(line) & 0xFFFFFFFF)


class Recorder:
    """A file to which rounds are appended. keep: seconds after which a round is removed, None for never.

    Raises BadInput for a file that holds something else or too many rounds, OSError.
    """

    def __init__(self, path: Path, keep: float | None = None) -> None:
        self.path = path
        self._keep = keep
        self._trimmed = -math.inf
        if not path.exists():
            path.touch(exist_ok=False)
        sweep(path.parent)
        # A device holds nothing.
        index = _scan_file(path) if path.is_file() else _Index(array("d"), array("Q"), 0)
        if path.stat().st_size > index.end:
            os.truncate(path, index.end)  # a round that was only half written
        self._file = os.fdopen(open_pipe(str(path), os.O_WRONLY | os.O_CREAT | os.O_APPEND), "ab")
        self.rounds = len(index.times)

    def write(self, document: Mapping[str, Any], at: float) -> int:
        """Append a round. Returns its bytes. at: seconds since 1970. Raises JsctlError on a full disk
        and for a full file."""
        if self._keep is not None and time.monotonic() - self._trimmed >= _TRIM_EVERY:
            self._trim(at - self._keep)
            self._trimmed = time.monotonic()
        if self.rounds >= MAX_ROUNDS:
            raise JsctlError(f"{self.path} would have {_TOO_MANY}", "record to another file, or use --keep")
        data = encode_round({"jsctl_report": VERSION, **document}, at)
        try:
            self._file.write(data)
            self._file.flush()
        except OSError as error:
            raise JsctlError(
                f"cannot write {self.path}: {error.strerror}", "free some space on the disk"
            ) from None
        self.rounds += 1
        return len(data)

    def close(self) -> None:
        """Close the file."""
        with contextlib.suppress(OSError):  # of a full disk, which `write` reported
            self._file.close()

    def _trim(self, oldest: float) -> None:
        index = _scan_file(self.path)
        first = bisect_left(index.times, oldest)
        if first == 0:
            return
        self._file.close()
        with self.path.open("rb") as old, open_atomically(self.path, mode=None) as new:
            old.seek(index.offsets[first] if first < len(index.offsets) else index.end)
            shutil.copyfileobj(old, new)
        self._file = self.path.open("ab")
        self.rounds = len(index.times) - first


class Recording:
    """A file of recorded rounds, for reading. Raises BadInput for one that holds none."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with contextlib.ExitStack() as stack:
            self._file = stack.enter_context(open_seekable(path))
            self._index = _scan(self._file, path)
            self._open = stack.pop_all()  # until the end: what a pipe had is a copy without a name
        if not self._index.times:
            raise BadInput(
                f"{path} holds no rounds", f"record some: {build_line('report', flags=['--record', 'FILE'])}"
            )

    @property
    def times(self) -> Sequence[float]:
        """When each round was, in seconds since 1970."""
        return self._index.times

    def load(self, number: int) -> dict[str, Any]:
        """Return a round. Raises BadInput for one that is damaged or of a later version."""
        offsets = self._index.offsets
        end = self._index.end if number + 1 == len(offsets) else offsets[number + 1]
        self._file.seek(offsets[number])
        data = self._file.read(end - offsets[number])
        try:
            inflate = zlib.decompressobj(-zlib.MAX_WBITS)
            line = inflate.decompress(data[_HEADER.size : -_TRAILER.size], _MAX_ROUND_SIZE)
            if inflate.unconsumed_tail:
                raise ValueError(f"it has more than {_MAX_ROUND_SIZE:,} bytes")
            if zlib.crc32(line) != _TRAILER.unpack(data[-_TRAILER.size :])[0]:
                raise ValueError("its checksum is wrong")
            document = parse_json(line)
        except (zlib.error, ValueError) as error:
            raise BadInput(f"round {number + 1} of {self.path} is damaged: {error}", "skip it") from None
        if not isinstance(document, dict) or document.get("jsctl_report") != VERSION:
            raise BadInput(
                f"round {number + 1} of {self.path} is of another version", "use the jsctl that recorded it"
            )
        return document


def is_recording(path: Path) -> bool:
    """Return whether a file begins with a recorded round, or is a pipe, which can be nothing else."""
    if not path.is_file():
        return path.exists() and not path.is_dir()
    with path.open("rb") as file:
        return _parse_header(file.read(_HEADER.size)) is not None


def _scan_file(path: Path) -> _Index:
    with open_seekable(path) as file:
        return _scan(file, path)


def _scan(file: BinaryIO, path: Path) -> _Index:
    """Return the complete rounds of a file. Raises BadInput for a file that is not a recording, and for too
    many rounds.
    """
    times, offsets = array("d"), array("Q")
    try:
        length, at = file.seek(0, os.SEEK_END), 0
        while at + _HEADER.size <= length:
            file.seek(at)
            header = _parse_header(file.read(_HEADER.size))
            if header is None and at == 0:
                raise BadInput(f"{path} is not a recorded report", "choose another file")
            if header is None or at + header.size > length:
                break
            if len(times) == MAX_ROUNDS:
                raise BadInput(f"{path} has {_TOO_MANY}", "record less often, or with --keep")
            times.append(header.at)
            offsets.append(at)
            at += header.size
        if not times and length > 0 and file.seek(0) == 0 and file.read(4) != _MAGIC[:length]:
            raise BadInput(f"{path} is not a recorded report", "choose another file")
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}", "check the path") from None
    return _Index(times, offsets, at)


def _parse_header(header: bytes) -> _Header | None:
    if len(header) < _HEADER.size:
        return None
    magic, _, _, _, _, subfield, payload, size, milliseconds = _HEADER.unpack(header)
    if (magic, subfield, payload) != (_MAGIC, _SUBFIELD, _PAYLOAD):
        return None
    if not _HEADER.size < size <= _MAX_ROUND_SIZE or milliseconds > _MAX_TIME:
        return None
    return _Header(milliseconds / 1000, size)
