"""Writing a stream's backup to disk (see `files` for what it consists of)."""

import contextlib
import hashlib
import json
import os
import shutil
import tarfile
from pathlib import Path
from typing import IO

from jsctl.errors import BadInput, JsctlError
from jsctl.files import sync_folder, write_atomically
from jsctl.jetstream.api import Json
from jsctl.jetstream.backup.files import (
    DATA,
    FORMAT,
    MANIFEST,
    META,
    PACKED,
    PARTIAL_DATA,
    existing_backup,
    is_packed,
    packed_stem,
    remove_backup_files,
    snapshot_fault,
)
from jsctl.jetstream.backup.s2 import FrameScanner

_FLUSH_INTERVAL = 16 << 20
"""Bytes after which the system is asked to begin to write."""


class BackupWriter:
    """Writes one backup. Until `finish` the folder says that it is not finished; `abandon` removes it.

    An existing target stays as it is until the new backup is whole.
    """

    def __init__(self, target: Path, about: Json) -> None:
        """about: what the manifest says beside sizes and digests. Raises BadInput, OSError."""
        self.target = target
        separate = is_packed(target) or bool(existing_backup(target))
        self.folder = target.with_name(target.name + ".partial") if separate else target
        if separate and existing_backup(self.folder):
            remove_backup_files(self.folder)
        self._folder_is_new = not self.folder.exists()
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._about = {"format": FORMAT, "complete": False, **about}
        _write_json(self.folder / MANIFEST, self._about)
        self._data = (self.folder / PARTIAL_DATA).open("xb")
        self._digest = hashlib.sha256()
        self._flushed = 0
        self._finished = False
        self.scanner = FrameScanner()

    def write(self, chunk: bytes) -> None:
        """Write the next piece of the snapshot. Raises JsctlError for what is not a snapshot."""
        try:
            self.scanner.feed(chunk)
        except ValueError as error:
            raise JsctlError(f"the server did not send a snapshot: {error}") from None
        self._digest.update(chunk)
        try:
            self._data.write(chunk)
        except OSError as error:
            raise JsctlError(f"cannot write to {self.folder}: {error.strerror}") from None
        if self.scanner.packed - self._flushed >= _FLUSH_INTERVAL and hasattr(os, "posix_fadvise"):
            # Has the system begin to write, so that little is left for `_sync` at the end.
            length, start = self.scanner.packed - self._flushed, self._flushed
            os.posix_fadvise(self._data.fileno(), start, length, os.POSIX_FADV_DONTNEED)
            self._flushed = self.scanner.packed

    def finish(self, config: Json, state: Json, more: Json) -> Json:
        """Check the snapshot's end, and mark the backup as whole; returns the manifest.

        config, state: of the stream. more: further keys of the manifest. Raises JsctlError.
        """
        if fault := snapshot_fault(self.scanner):
            raise JsctlError(f"the snapshot is not whole: {fault}", "try again")
        _sync(self._data)
        self._data.close()
        (self.folder / PARTIAL_DATA).rename(self.folder / DATA)
        meta = json.dumps({"config": config, "state": state}, indent=2, ensure_ascii=False).encode()
        files = {
            DATA: {"bytes": self.scanner.packed, "sha256": self._digest.hexdigest()},
            META: {"bytes": len(meta), "sha256": hashlib.sha256(meta).hexdigest()},
        }
        unpacked = self.scanner.unpacked
        manifest = {**self._about, "complete": True, "unpacked": unpacked, **more, "files": files}
        write_atomically(self.folder / META, meta, mode=None)
        _write_json(self.folder / MANIFEST, manifest)
        if is_packed(self.target):
            self._pack()
        elif self.folder != self.target:
            self._replace_target()
        sync_folder(self.target.parent)
        self._finished = True
        return manifest

    def abandon(self) -> None:
        """Remove what was written, as far as possible; a finished backup stays."""
        self._data.close()
        if self._finished:
            return
        with contextlib.suppress(OSError, BadInput):
            remove_backup_files(self.folder)
            if self._folder_is_new:
                self.folder.rmdir()

    def _pack(self) -> None:
        packed = self.folder / PACKED
        # What S2 has compressed hardly gets smaller; more effort only takes longer.
        with tarfile.open(packed, "x:gz", compresslevel=1) as tar:
            for name in (MANIFEST, META, DATA):
                tar.add(self.folder / name, arcname=f"{packed_stem(self.target)}/{name}")
        with packed.open("rb") as file:
            _sync(file)
        if self.target.is_dir():
            remove_backup_files(self.target)
            self.target.rmdir()
        packed.replace(self.target)
        shutil.rmtree(self.folder)

    def _replace_target(self) -> None:
        old = self.target.with_name(self.target.name + ".old")
        self.target.rename(old)
        self.folder.rename(self.target)
        remove_backup_files(old)
        old.rmdir()


def _write_json(path: Path, content: Json) -> None:
    write_atomically(path, json.dumps(content, indent=2) + "\n", mode=None)


def _sync(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())
