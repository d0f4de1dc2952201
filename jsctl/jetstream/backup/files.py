"""A stream's backup on disk: a folder with the server's snapshot as it came, or the same in a .tgz file.

    backup.json     {config, state}, as the `nats` tool writes it
    stream.tar.s2   the snapshot; stream.tar.s2.partial until it is whole
    jsctl.json      sizes and SHA-256 of both, the consumers, and whether the backup was finished

A folder of the `nats` tool has the first two. What is not finished has no backup.json, so that other tools
refuse it as well.
"""

import contextlib
import hashlib
import json
import os
import shutil
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from jsctl.errors import BadInput, JsctlError, NotFound
from jsctl.files import is_temporary, sync_folder, write_atomically
from jsctl.jetstream.api import Json
from jsctl.jetstream.backup.s2 import ARCHIVE_END, Frames

DATA, META, MANIFEST = "stream.tar.s2", "backup.json", "jsctl.json"
FORMAT = 1
_PARTIAL = DATA + ".partial"
_OURS = frozenset({DATA, META, MANIFEST, _PARTIAL})
_PACKED = (".tgz", ".tar.gz")
_BLOCK = 1 << 20
_HINT = 16 << 20

Told = Callable[[int], object]
"""Told the number of bytes that were dealt with."""


def is_packed(target: Path) -> bool:
    """Whether a backup by this name is one file instead of a folder."""
    return target.name.endswith(_PACKED)


def obstacle(target: Path) -> str:
    """What is at the target already: empty for nothing, else words for it. Raises BadInput for what is not
    a backup, and is never overwritten."""
    if not os.path.lexists(target):
        return ""
    if is_packed(target) and target.is_file():
        return "a backup"
    if not target.is_dir():
        raise BadInput(f"{target} is there already, and is no backup", "choose another target")
    found = {entry.name.removesuffix(".new") for entry in target.iterdir()}
    if not found:
        return ""
    if found - _OURS:
        raise BadInput(f"{target} holds other files", "choose another target")
    return "a backup that was not finished" if META not in found else "a backup"


class Writer:
    """Writes one backup. Until `finish` the folder says that it is not finished; `abandon` removes it.

    An existing target stays as it is until the new backup is whole.
    """

    def __init__(self, target: Path, about: Json) -> None:
        """about: what the manifest says beside sizes and digests. Raises BadInput, OSError."""
        self.target = target
        apart = is_packed(target) or bool(obstacle(target))
        self.folder = target.with_name(target.name + ".partial") if apart else target
        if apart and obstacle(self.folder):
            clear(self.folder)
        self._made = not self.folder.exists()
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._about = {"format": FORMAT, "complete": False, **about}
        _save(self.folder / MANIFEST, self._about)
        self._data = (self.folder / _PARTIAL).open("xb")
        self._digest = hashlib.sha256()
        self._hinted = 0
        self._finished = False
        self.frames = Frames()

    def write(self, chunk: bytes) -> None:
        """The next piece of the snapshot. Raises JsctlError for what is no snapshot."""
        try:
            self.frames.feed(chunk)
        except ValueError as error:
            raise JsctlError(f"the server sent no snapshot: {error}") from None
        self._digest.update(chunk)
        try:
            self._data.write(chunk)
        except OSError as error:
            raise JsctlError(f"cannot write to {self.folder}: {error.strerror}") from None
        if self.frames.packed - self._hinted >= _HINT and hasattr(os, "posix_fadvise"):
            # Has the system begin to write: what waits for `_sync` at the end is little then.
            length, start = self.frames.packed - self._hinted, self._hinted
            os.posix_fadvise(self._data.fileno(), start, length, os.POSIX_FADV_DONTNEED)
            self._hinted = self.frames.packed

    def finish(self, config: Json, state: Json, more: Json) -> Json:
        """Check the snapshot's end, and say that the backup is whole; gives the manifest.

        Raises JsctlError.
        """
        if fault := _fault(self.frames):
            raise JsctlError(f"the snapshot is not whole: {fault}", "try again")
        _sync(self._data)
        self._data.close()
        (self.folder / _PARTIAL).rename(self.folder / DATA)
        meta = json.dumps({"config": config, "state": state}, indent=2, ensure_ascii=False).encode()
        files = {
            DATA: {"bytes": self.frames.packed, "sha256": self._digest.hexdigest()},
            META: {"bytes": len(meta), "sha256": hashlib.sha256(meta).hexdigest()},
        }
        manifest = {**self._about, "complete": True, "unpacked": self.frames.unpacked, **more, "files": files}
        _save(self.folder / META, meta)
        _save(self.folder / MANIFEST, manifest)
        if is_packed(self.target):
            self._pack()
        elif self.folder != self.target:
            self._swap(self.folder)
        sync_folder(self.target.parent)
        self._finished = True
        return manifest

    def abandon(self) -> None:
        """Remove what was written, as far as it can be; what is whole stays."""
        self._data.close()
        if self._finished:
            return
        with contextlib.suppress(OSError, BadInput):
            clear(self.folder)
            if self._made:
                self.folder.rmdir()

    def _pack(self) -> None:
        packed = self.folder / "packed"
        # What S2 has compressed hardly gets smaller; more effort only takes longer.
        with tarfile.open(packed, "x:gz", compresslevel=1) as tar:
            for name in (MANIFEST, META, DATA):
                tar.add(self.folder / name, arcname=f"{_stem(self.target)}/{name}")
        with packed.open("rb") as file:
            _sync(file)
        if self.target.is_dir():
            clear(self.target)
            self.target.rmdir()
        packed.replace(self.target)
        shutil.rmtree(self.folder)

    def _swap(self, new: Path) -> None:
        old = self.target.with_name(self.target.name + ".old")
        self.target.rename(old)
        new.rename(self.target)
        clear(old)
        old.rmdir()


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was opened. manifest: empty for one of the `nats` tool."""

    path: Path
    config: Json
    state: Json
    manifest: Json
    size: int  #: bytes of the snapshot
    _meta: bytes

    @property
    def stream(self) -> str:
        return str(self.config["name"])

    @property
    def consumers(self) -> list[Json]:
        """Configurations of the stream's consumers, as far as they were saved."""
        return list(self.manifest.get("consumers") or [])

    @contextmanager
    def data(self) -> Iterator[IO[bytes]]:
        """The snapshot, to read from its begin."""
        if not is_packed(self.path):
            with (self.path / DATA).open("rb") as file:
                yield file
            return
        with tarfile.open(self.path, "r:gz") as tar:
            for member in tar:
                if member.isfile() and Path(member.name).name == DATA:
                    yield cast(IO[bytes], tar.extractfile(member))
                    return
        raise BadInput(f"{self.path} holds no {DATA}")

    def verify(self, told: Told | None = None) -> None:
        """Read all of it, and compare it with its digests; where there are none, check that it is a whole
        snapshot. Raises BadInput. To be run in a thread."""
        wanted = self.manifest.get("files") or {}
        if wanted and wanted.get(META, {}).get("sha256") != hashlib.sha256(self._meta).hexdigest():
            raise BadInput(f"{META} in {self.path} was changed after the backup", "nothing was restored")
        frames, digest = Frames(), hashlib.sha256()
        try:
            with self.data() as file:
                while block := file.read(_BLOCK):
                    frames.feed(block)
                    if wanted:
                        digest.update(block)
                    if told:
                        told(len(block))
            fault = _fault(frames)
        except (ValueError, EOFError, tarfile.TarError, OSError) as error:
            fault = str(error)
        if not wanted:
            if fault:
                raise BadInput(f"the backup in {self.path} is damaged: {fault}", "nothing was restored")
            return
        have, should = frames.packed, int(wanted.get(DATA, {}).get("bytes", -1))
        if have < should:
            raise BadInput(
                f"the backup in {self.path} was cut: {have:,} of {should:,} bytes are left",
                "nothing was restored",
            )
        if digest.hexdigest() != wanted.get(DATA, {}).get("sha256"):
            raise BadInput(
                f"the backup in {self.path} was changed: its digest differs", "nothing was restored"
            )


def open_backup(path: Path) -> Backup:
    """A folder or file with a stream's backup. Raises NotFound, BadInput."""
    if path.name in _OURS and not path.is_dir():
        path = path.parent
    if not path.exists():
        raise NotFound(f"there is no backup at {path}")
    files, size = _read_packed(path) if path.is_file() else _read_folder(path)
    manifest: Json = {}
    if MANIFEST in files:
        manifest = _object(files[MANIFEST], f"{MANIFEST} in {path}")
        if not manifest.get("complete"):
            raise BadInput(f"the backup in {path} was not finished", "back the stream up again")
        if int(manifest.get("format", 0)) > FORMAT:
            raise BadInput(f"the backup in {path} was written by a newer jsctl", "upgrade jsctl")
    if META not in files:
        raise BadInput(f"{path} holds no backup of a stream", f"{META} is missing")
    if size < 0:
        raise BadInput(f"the backup in {path} is cut", f"{DATA} is missing")
    meta = _object(files[META], f"{META} in {path}")
    config, state = meta.get("config"), meta.get("state")
    if not isinstance(config, dict) or not isinstance(state, dict) or not config.get("name"):
        raise BadInput(f"{META} in {path} is no stream's", "config and state are missing")
    return Backup(path, config, state, manifest, size, files[META])


def _read_folder(path: Path) -> tuple[dict[str, bytes], int]:
    """The small files, and the size of the snapshot or -1."""
    files = {name: (path / name).read_bytes() for name in (META, MANIFEST) if (path / name).is_file()}
    data = path / DATA
    return files, data.stat().st_size if data.is_file() else -1


def _read_packed(path: Path) -> tuple[dict[str, bytes], int]:
    files: dict[str, bytes] = {}
    size = -1
    if not is_packed(path):
        raise BadInput(f"{path} is no backup", "it should be a folder, or a .tgz file")
    try:
        with tarfile.open(path, "r:gz") as tar:
            for member in tar:
                name = Path(member.name).name
                if name == DATA and member.isfile():
                    size = member.size
                    break  # what jsctl needs comes before
                if name in (META, MANIFEST) and member.isfile() and member.size < _BLOCK * 64:
                    files[name] = cast(IO[bytes], tar.extractfile(member)).read()
    except (tarfile.TarError, EOFError, OSError) as error:
        raise BadInput(f"the backup in {path} is damaged: {error}", "nothing was restored") from None
    return files, size


def _fault(frames: Frames) -> str:
    """Why this is no whole snapshot; empty when it is one."""
    if not frames.whole:
        return "it is cut"
    try:
        return "" if frames.ends_with(ARCHIVE_END) else "its end is missing"
    except ValueError as error:
        return str(error)


def _object(data: bytes, what: str) -> Json:
    try:
        found = json.loads(data)
    except ValueError:
        raise BadInput(f"{what} is not JSON", "nothing was restored") from None
    if not isinstance(found, dict):
        raise BadInput(f"{what} is no JSON object", "nothing was restored")
    return found


def _save(path: Path, content: Json | bytes) -> None:
    """Write a file whole, or not at all."""
    data = content if isinstance(content, bytes) else json.dumps(content, indent=2).encode() + b"\n"
    write_atomically(path, data, mode=None)


def _sync(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


def clear(folder: Path) -> None:
    """Remove the files of a backup. Raises BadInput when there are others."""
    found = list(folder.iterdir())
    names = {entry.name for entry in found if not is_temporary(entry.name)} - {"packed"}
    if names - _OURS:
        raise BadInput(f"{folder} holds other files", "remove it by hand")
    for entry in found:
        entry.unlink()


def _stem(target: Path) -> str:
    return next((target.name.removesuffix(end) for end in _PACKED if target.name.endswith(end)), target.name)
