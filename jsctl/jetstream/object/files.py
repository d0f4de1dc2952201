"""The files of put and get: what identifies a file's state, and files that are written beside their place."""

import contextlib
import io
import os
import select
import socket
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from jsctl.errors import BadInput
from jsctl.files import TEMPORARY, escape_path, open_pipe, resolve_path
from jsctl.posix import lock, set_mode

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer as Buffer

_LEFT = f"{TEMPORARY}get-"

_WRITE = 32 << 10
"""Bytes of a write. With larger or smaller ones Linux takes a fifth longer to get 1 GiB into a new file's
pages."""


@contextlib.contextmanager
def open_source(path: Path) -> Iterator[tuple[io.FileIO, str, int]]:
    """Open a file to put. Yields it, its identity, and its bytes (0 for what has no size).

    The identity is the same for as long as the file does not change. It is empty for what is not a
    regular file, and while another process puts the same file. Raises BadInput.
    """
    try:
        file = os.fdopen(open_pipe(str(path), os.O_RDONLY), "rb", buffering=0)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a valid path"
        raise BadInput(f"cannot read {escape_path(path)}: {reason}") from None
    with file:
        status = os.fstat(file.fileno())
        if stat.S_ISDIR(status.st_mode):
            raise BadInput(f"{path} is a folder", "jsctl object sync BUCKET FOLDER --up stores one")
        if stat.S_ISCHR(status.st_mode) and not file.isatty():
            raise BadInput(f"cannot read {escape_path(path)}: it is a device, which may never end")
        if not stat.S_ISREG(status.st_mode):
            yield file, "", 0
            return
        identity = ""
        with contextlib.suppress(OSError):  # locked by another, or a file system without locks
            lock(file, wait=False)
            state = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
            identity = ":".join([socket.gethostname(), *map(str, state)])
        yield file, identity, status.st_size


class PipeReader(io.RawIOBase):
    """Reads a source that may keep a read waiting, such as stdin, until `stop` is called, so that the process
    can end."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._stopped = False

    def stop(self) -> None:
        """End the read that waits."""
        self._stopped = True

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "Buffer") -> int:
        while not select.select([self._handle], [], [], 0.1)[0]:
            if self._stopped:
                return 0
        view = memoryview(buffer)
        data = os.read(self._handle, len(view))
        view[: len(data)] = data
        return len(data)


@contextlib.contextmanager
def open_target(path: Path) -> Iterator[BinaryIO]:
    """Yield a file that takes the place of `path` when the block ends without an error; else nothing is left.

    What killed processes left in the folder is removed. What is not a regular file is written to as it is.
    Raises BadInput.
    """
    with _named(path):
        target = resolve_path(path)
        if target.is_dir():
            raise BadInput(f"{path} is a folder")
        if target.exists() and not target.is_file():
            with open(target, "wb", buffering=0, opener=open_pipe) as file:
                yield file
            return
        _remove_left(target.parent)
        temporary = target.with_name(_LEFT + os.urandom(6).hex())
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            with os.fdopen(handle, "wb", buffering=0) as file:
                with contextlib.suppress(OSError):
                    lock(file, wait=False)
                if target.exists():
                    set_mode(handle, stat.S_IMODE(target.stat().st_mode))
                yield file
                temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def write_all(file: BinaryIO, data: bytes) -> None:
    """Write everything: a file without a buffer may take less at a time. Raises OSError."""
    view = memoryview(data)
    while view:
        view = view[file.write(view[:_WRITE]) :]


def _remove_left(folder: Path) -> None:
    """Remove the temporary files of gets that are no longer running: nobody holds their lock."""
    with contextlib.suppress(OSError):
        for path in folder.glob(_LEFT + "*"):
            with contextlib.suppress(OSError), path.open("rb") as file:
                lock(file, wait=False)
                path.unlink()


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a valid path"
        raise BadInput(f"cannot write {escape_path(path)}: {reason}") from None
