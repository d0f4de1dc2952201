"""Writing a stream's backup to disk (see `files` for what it consists of)."""

import contextlib
import hashlib
import json
import os
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import IO

from jsctl.base.files import write_atomically
from jsctl.errors import JsctlError
from jsctl.jetstream.api import Json
from jsctl.jetstream.backup.archive import MAGIC
from jsctl.jetstream.backup.encryption import ENDING, create_file, encrypt
from jsctl.jetstream.backup.files import (
    DATA,
    DATA_NAMES,
    FORMAT,
    GONE,
    LEGACY_DATA,
    MANIFEST,
    META,
    META_NAMES,
    PACKED,
    PARTIAL_DATA,
    describe_existing,
    find_snapshot_fault,
    is_packed,
    seal_manifest,
    strip_ending,
)
from jsctl.jetstream.backup.s2 import FrameScanner
from jsctl.jetstream.backup.target import BackupTarget, remove_path

_FLUSH_INTERVAL = 16 << 20
"""Bytes after which the system is asked to begin to write."""


class BackupWriter:
    """A writer of one backup to a new folder. Until `finish`, its manifest says that the backup is
    incomplete; `abandon` removes it.
    """

    def __init__(self, folder: Path, description: Json, target: Path, recipients: Sequence[str] = ()) -> None:
        """Create the files of a backup in `folder`.

        description: the keys of the manifest besides sizes and digests. target: the path that errors name
        instead of the folder. recipients: public keys for which it is encrypted. Raises JsctlError, with
        nothing left.
        """
        self.folder = folder
        self._target = target
        self._recipients = recipients
        self._description = {"format": FORMAT, "complete": False, **description}
        self._digest = hashlib.sha256()
        self._size = self._flushed = 0
        self._finished = False
        self.scanner = FrameScanner()
        with naming(self._target):
            folder.mkdir()
            try:
                self._write_file(MANIFEST, seal_manifest(self._description))
                self._data = create_file(folder / PARTIAL_DATA, recipients)
            except BaseException:
                remove_path(folder)
                raise

    def write(self, chunk: bytes) -> None:
        """Write the next piece of the snapshot. Raises JsctlError for data that is not a snapshot."""
        self.scanner.scan(chunk)
        self._store(chunk)

    def _store(self, data: bytes) -> None:
        self._digest.update(data)
        self._size += len(data)
        with naming(self._target):
            self._data.write(data)
        if self._size - self._flushed >= _FLUSH_INTERVAL and hasattr(os, "posix_fadvise"):
            # Makes the system begin to write, so that little is left for `_sync` at the end.
            length, start = self._size - self._flushed, self._flushed
            os.posix_fadvise(self._data.fileno(), start, length, os.POSIX_FADV_DONTNEED)
            self._flushed = self._size

    def finish(self, config: Json, state: Json, extra: Json) -> Json:
        """Check the snapshot's end, and mark the backup as complete; return the manifest.

        config, state: the stream's. extra: further keys of the manifest. Raises JsctlError.
        """
        if fault := find_snapshot_fault(self.scanner):
            raise JsctlError(f"the snapshot is incomplete: {fault}", "try again")
        return self._complete(DATA if self.scanner.starts_with(MAGIC) else LEGACY_DATA, config, state, extra)

    def _complete(
        self,
        name: str,
        config: Json,
        state: Json,
        extra: Json,
        further: Mapping[str, Json] = MappingProxyType({}),
    ) -> Json:
        """Write the small files, and return the manifest. name: of the snapshot. further: other files."""
        with naming(self._target):
            sync(self._data)
            self._data.close()
            (self.folder / PARTIAL_DATA).rename(self.folder / self._get_stored_name(name))
            meta = json.dumps({"config": config, "state": state}, indent=2, ensure_ascii=False).encode()
            files = {
                name: {"bytes": self._size, "sha256": self._digest.hexdigest()},
                **further,
                META: {"bytes": len(meta), "sha256": hashlib.sha256(meta).hexdigest()},
            }
            unpacked = self.scanner.unpacked
            manifest = {**self._description, "complete": True, "unpacked": unpacked, **extra, "files": files}
            self._write_file(META, meta)
            self._write_file(MANIFEST, seal_manifest(manifest))
        self._finished = True
        return manifest

    def _get_stored_name(self, name: str) -> str:
        return name + ENDING * bool(self._recipients)

    def _write_file(self, name: str, data: bytes) -> None:
        data = encrypt(data, self._recipients) if self._recipients else data
        write_atomically(self.folder / self._get_stored_name(name), data, mode=None)

    def abandon(self) -> None:
        """Remove what was written, as far as possible; a finished backup stays."""
        with contextlib.suppress(OSError):  # closing writes the last bytes, which fails on a full disk
            self._data.close()
        if not self._finished:
            with contextlib.suppress(OSError):
                remove_path(self.folder)


def put_backup(folder: Path, target: BackupTarget) -> None:
    """Move a complete backup to its target's place, packed if that is a .tgz file. Raises JsctlError, and
    BadInput if something else was put there meanwhile."""
    path = target.path
    with naming(path):
        finished_path = _pack(folder, strip_ending(path)) if is_packed(path) else folder
        describe_existing(path)
        target.put(finished_path, last=META_NAMES)


def _pack(folder: Path, stem: str) -> Path:
    """Write the files of a backup to one .tgz file in the same folder; return its path.

    stem: the name of the folder inside that file. Raises OSError.
    """
    packed = folder / PACKED
    with packed.open("xb") as file:
        # Data that S2 has compressed hardly gets smaller; a higher level only takes longer.
        with tarfile.open(fileobj=file, mode="w:gz", compresslevel=1) as tar:
            for name in (MANIFEST, META, GONE, *DATA_NAMES):
                for stored in (name, name + ENDING):
                    if (folder / stored).exists():
                        tar.add(folder / stored, arcname=f"{stem}/{stored}")
        sync(file)
    return packed


@contextlib.contextmanager
def naming(target: Path) -> Iterator[None]:
    """Turn OSError into a JsctlError that names the target."""
    try:
        yield
    except OSError as error:
        raise JsctlError(f"cannot write to {target}: {error.strerror or error}") from None


def sync(file: IO[bytes]) -> None:
    """Wait until a file is on disk. Raises OSError."""
    file.flush()
    os.fsync(file.fileno())
