"""Folders that tasks write files into. A file is there once it is complete; written again by another attempt
of the same task, it replaces the first."""

import contextlib
import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from jsctl.errors import JsctlError
from jsctl.spark.session.hadoop import HadoopPath, Place
from jsctl.spark.session.s3 import S3Options, connect, find_options, find_path

_CHUNK = 8 << 20  #: bytes that are sent to S3 at once


class TaskFolder(Protocol):
    """A folder to write into, as tasks get it. target: what errors call it."""

    @property
    def target(self) -> str: ...

    def create(self, name: str) -> contextlib.AbstractContextManager[BinaryIO]:
        """Return a new file to write into, which is there when the context ends without an error.

        name: its path below the folder. Raises OSError when it cannot be written (see `name_in_errors`).
        """


@dataclass(frozen=True, slots=True)
class DiskFolder:
    """A folder of this machine, or one that all machines share."""

    path: Path
    target: str

    @classmethod
    def of(cls, folder: Path) -> "DiskFolder":
        """Return a folder, which is made if there is none."""
        folder.mkdir(parents=True, exist_ok=True)
        return cls(folder.absolute(), str(folder).partition("/.staging/")[0])

    @contextlib.contextmanager
    def create(self, name: str) -> Iterator[BinaryIO]:
        """See TaskFolder."""
        final = self.path / name
        hidden = final.with_name(f".{final.name}.{uuid.uuid4()}")
        final.parent.mkdir(parents=True, exist_ok=True)
        with hidden.open("xb") as file:
            yield file
        hidden.replace(final)


@dataclass(frozen=True, slots=True)
class S3Folder:
    """A folder in S3. path: bucket and prefix. options: how to reach it.

    A file is sent when it is complete: pyarrow cannot take back what it has begun to send, so that an attempt
    that fails late would replace the file of the one that succeeded by a part of it.
    """

    path: str
    target: str
    options: S3Options

    @classmethod
    def of(cls, folder: HadoopPath, options: S3Options) -> "S3Folder":
        """Return a folder that a URI names."""
        return cls(find_path(folder), str(folder), options)

    @contextlib.contextmanager
    def create(self, name: str) -> Iterator[BinaryIO]:
        """See TaskFolder."""
        folder = os.environ.get("SPARK_LOCAL_DIRS", "").partition(",")[0]  # removed with the session
        with tempfile.TemporaryFile(dir=folder or None) as file:
            yield file
            file.seek(0)
            with connect(self.options).open_output_stream(f"{self.path}/{name}") as stream:
                shutil.copyfileobj(file, stream, _CHUNK)


FolderOpener = Callable[[Any], TaskFolder]
"""(a folder below a place) -> the same as tasks write to it."""


def find_opener(place: Place) -> FolderOpener | None:
    """Return what opens folders below a place, None where tasks cannot write: Python workers do not reach
    Hadoop's file systems, but for S3. Raises JsctlError."""
    if isinstance(place, Path):
        return DiskFolder.of
    options = find_options(place)
    return partial(S3Folder.of, options=options) if options else None


@contextlib.contextmanager
def name_in_errors(target: str) -> Iterator[None]:
    """Raise errors of a file system as JsctlError."""
    try:
        yield
    except OSError as error:
        raise JsctlError(f"Spark cannot write to {target}: {error.strerror or error}") from None
