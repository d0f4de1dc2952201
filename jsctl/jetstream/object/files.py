"""The files of put and get: the identity of a file's state, and files that are written under a temporary
name."""

import contextlib
import io
import os
import socket
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from jsctl.base.command_lines import build_line
from jsctl.base.files import escape_path, open_atomically, open_pipe, open_seekable, resolve_path, sweep
from jsctl.base.posix import lock
from jsctl.errors import BadInput

_WRITE_SIZE = 256 << 10
"""Maximum number of bytes of a write. With 32 KiB Linux takes half as long again to write a new file; with
2 MiB it looks for huge pages, which may take eight times as long."""

_MAX_PARTS = 512  #: of a write; systems take up to 1,024

_HAS_WRITEV = hasattr(os, "writev")


@contextlib.contextmanager
def open_source(path: Path) -> Iterator[tuple[io.FileIO | io.BufferedReader | io.BufferedRandom, str, int]]:
    """Open a file to put; yield it, its identity, and its size in bytes (0 if it has none).

    The identity stays the same as long as the file does not change. It is empty if this is not a regular
    file, or while another process puts the same file. Raises BadInput.
    """
    try:
        file = os.fdopen(open_pipe(str(path), os.O_RDONLY), "rb", buffering=0)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a valid path"
        raise BadInput(f"cannot read {escape_path(path)}: {reason}") from None
    with file:
        status = os.fstat(file.fileno())
        if stat.S_ISDIR(status.st_mode):
            raise BadInput(
                f"{path} is a folder",
                f"{build_line('object sync', 'BUCKET', str(path), flags=['--up'])} stores one",
            )
        if stat.S_ISCHR(status.st_mode) and not file.isatty():  # which may never end: up to a limit
            with open_seekable(path) as copy:
                yield copy, "", 0
            return
        if not stat.S_ISREG(status.st_mode):
            yield file, "", 0
            return
        identity = ""
        with contextlib.suppress(OSError):  # locked by another, or a file system without locks
            lock(file, wait=False)
            state = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
            identity = ":".join([socket.gethostname(), *map(str, state)])
        yield file, identity, status.st_size


@contextlib.contextmanager
def open_target(path: Path) -> Iterator[BinaryIO]:
    """Yield a file that takes the place of `path` when the block ends without an error, and is removed
    otherwise.

    Temporary files of killed processes in the folder are removed. What `is_replaced` says is not is written
    to. Raises BadInput.
    """
    try:
        target = resolve_path(path)
        if target.is_dir():
            raise BadInput(f"{path} is a folder")
        sweep(target.parent)
        with open_atomically(path, mode=None, durable=False) as file:
            yield file
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a valid path"
        raise BadInput(f"cannot write {escape_path(path)}: {reason}") from None


def write_all(file: BinaryIO, chunks: Iterable[bytes]) -> None:
    """Write all of `chunks`: an unbuffered file may accept less at a time. Raises OSError."""
    group, size = list[memoryview](), 0
    for chunk in chunks:
        view = memoryview(chunk)
        for start in range(0, len(view), _WRITE_SIZE):
            part = view[start : start + _WRITE_SIZE]
            if size + len(part) > _WRITE_SIZE or len(group) == _MAX_PARTS:
                _write_group(file, group)
                group, size = [], 0
            group.append(part)
            size += len(part)
    _write_group(file, group)


def _write_group(file: BinaryIO, group: list[memoryview]) -> None:
    while group:
        count = os.writev(file.fileno(), group) if _HAS_WRITEV else file.write(group[0])
        while group and count >= len(group[0]):
            count -= len(group.pop(0))
        if count:
            group[0] = group[0][count:]
