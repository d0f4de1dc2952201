"""A stream's backup on disk: a folder with the server's snapshot as it arrived, or the same in a .tgz file.

backup.json     {config, state}, as the `nats` tool writes it; `edit` says from what it was edited
stream.arc.s2   the snapshot; stream.tar.s2 that of a server before 2.15, or of any server by older tools
jsctl.json      sizes and SHA-256 of both, the consumers, and whether the backup was finished

A folder of the `nats` tool, and one that was edited, has the first two. An unfinished backup has no
backup.json, so that other tools refuse it as well; its snapshot is in stream.arc.s2.partial.
"""

import hashlib
import os
import shutil
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from jsctl.base.files import is_temporary, naming_write_errors, open_input, read_bytes, temporary_folder
from jsctl.base.json_text import parse_json
from jsctl.base.signals import interrupt_handler
from jsctl.errors import BadInput, NotFound
from jsctl.jetstream.api import Json
from jsctl.jetstream.backup.s2 import ARCHIVE_END, FrameScanner
from jsctl.jetstream.backup.target import find_present_path, remove_path

DATA, META, MANIFEST = "stream.arc.s2", "backup.json", "jsctl.json"
LEGACY_DATA = "stream.tar.s2"
PARTIAL_DATA = DATA + ".partial"
PACKED = "packed"
"""Name of a .tgz file while it is being written."""

UNFINISHED = "a backup that was not finished"

FORMAT = 1
"""Version of the manifest."""

_BACKUP_FILES = frozenset({DATA, LEGACY_DATA, META, MANIFEST, PARTIAL_DATA, LEGACY_DATA + ".partial"})
_PACKED_ENDINGS = (".tgz", ".tar.gz")
_READ_SIZE = 1 << 20
_MAX_HEADER_SIZE = 1 << 20
_MAX_META_SIZE = 64 << 20
UNUSABLE = "use another backup"
DAMAGES = (ValueError, EOFError, tarfile.TarError, OSError, zlib.error)
"""What reading a damaged backup raises."""

_STATE_NUMBERS = ("messages", "bytes", "first_seq", "last_seq", "consumer_count", "num_deleted")


class SafeMember(tarfile.TarInfo):
    """A member of a .tgz file with a limit on the size of its headers: tarfile reads the data of an extended
    header into memory, which may be 8 GiB of zeros."""

    def _proc_member(self, tar: tarfile.TarFile) -> "SafeMember":
        extended = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE)
        is_header = self.type in (*extended, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)
        if is_header and not 0 <= self.size <= _MAX_HEADER_SIZE:
            raise tarfile.ReadError(f"a header has more than {_MAX_HEADER_SIZE:,} bytes")
        return super()._proc_member(tar)  # type: ignore[misc, no-any-return]


def is_packed(target: Path) -> bool:
    """Return whether a backup with this name is one .tgz file instead of a folder."""
    return target.name.endswith(_PACKED_ENDINGS)


def strip_ending(target: Path) -> str:
    """Return a packed backup's name without its ending."""
    endings = (ending for ending in _PACKED_ENDINGS if target.name.endswith(ending))
    return target.name.removesuffix(next(endings, ""))


def describe_existing(target: Path) -> str:
    """Describe what a new backup would replace; empty for nothing.

    Raises BadInput for anything that is not a backup, which is never overwritten.
    """
    if not os.path.lexists(target):
        return ""
    if is_packed(target) and target.is_file():
        return "a backup"
    if not target.is_dir():
        raise BadInput(f"{target} already exists and is not a backup", "choose another target")
    entries = list(target.iterdir())
    if not entries:
        return ""
    names = {entry.name for entry in entries if not is_temporary(entry.name)}
    if names - _BACKUP_FILES:
        raise BadInput(f"{target} holds other files", "choose another target")
    return UNFINISHED if META not in names else "a backup"


def remove_backup_files(folder: Path) -> None:
    """Remove the files of a backup. Raises BadInput when there are others."""
    entries = list(folder.iterdir())
    names = {entry.name for entry in entries if not is_temporary(entry.name)}
    if names - _BACKUP_FILES:
        raise BadInput(f"{folder} holds other files", "remove it by hand")
    for entry in entries:
        remove_path(entry)


@dataclass(frozen=True, slots=True)
class Backup:
    """An opened backup. manifest: empty for a backup of the `nats` tool, and an edited one. packed: the .tgz
    file, or the copy of a pipe; None for a folder."""

    path: Path
    config: Json
    state: Json
    edit: Json | None  #: from what it was edited, as `edit` records it
    manifest: Json
    data_name: str  #: DATA or LEGACY_DATA
    size: int  #: bytes of the snapshot
    packed: Path | None
    _meta: bytes

    @property
    def stream(self) -> str:
        """Name of the stream that was backed up."""
        return str(self.config["name"])

    @property
    def consumers(self) -> list[Json]:
        """Configurations of the stream's consumers; empty when they were not saved."""
        return list(self.manifest.get("consumers") or [])

    @contextmanager
    def open_data(self) -> Iterator[IO[bytes]]:
        """Yield the snapshot as a file, at its beginning. Raises BadInput."""
        if self.packed is None:
            with (self.path / self.data_name).open("rb") as file:
                yield file
            return
        with tarfile.open(self.packed, "r:gz", tarinfo=SafeMember) as tar:
            for member in tar:
                if member.isfile() and Path(member.name).name == self.data_name:
                    yield cast(IO[bytes], tar.extractfile(member))
                    return
        raise BadInput(f"{self.path} does not hold {self.data_name}")

    @property
    def digests(self) -> Json:
        """Sizes and digests of its files by name, as the manifest has them; empty without one."""
        return dict(self.manifest.get("files") or {})

    def check_configuration(self) -> None:
        """Raise BadInput if the configuration is not the one that was saved with the snapshot."""
        if (
            self.digests
            and self.digests.get(META, {}).get("sha256") != hashlib.sha256(self._meta).hexdigest()
        ):
            raise BadInput(f"{META} in {self.path} was changed after the backup", UNUSABLE)


@contextmanager
def opening_backup(path: Path) -> Iterator[Backup]:
    """Yield a stream's backup; a pipe is copied first, as a backup is read several times. Raises NotFound,
    BadInput, JsctlError on a full disk."""
    if not path.is_fifo() and not path.is_socket():
        yield open_backup(path)
        return
    with temporary_folder("jsctl-restore-") as folder:
        copy = folder / "backup.tgz"
        with (
            open_input(path) as pipe,
            naming_write_errors(copy),
            copy.open("wb") as file,
            interrupt_handler(),
        ):
            shutil.copyfileobj(pipe, file, _READ_SIZE)
        yield open_backup(path, copy)


def open_backup(path: Path, copy: Path | None = None) -> Backup:
    """Open a folder or file with a stream's backup. copy: what a pipe had. Raises NotFound, BadInput."""
    if path.name in _BACKUP_FILES and not path.is_dir():
        path = path.parent
    path = find_present_path(path)
    if not path.exists():
        raise NotFound(f"there is no backup at {path}")
    packed = copy or (path if path.is_file() else None)
    files, data_name, size = _read_folder(path) if packed is None else _read_packed(packed, path)
    manifest: Json = {}
    if MANIFEST in files:
        manifest = _parse_object(files[MANIFEST], f"{MANIFEST} in {path}")
        _check_manifest(manifest, path)
        if not manifest.get("complete"):
            raise BadInput(f"the backup in {path} was not finished", "back the stream up again")
        if int(manifest.get("format", 0)) > FORMAT:
            raise BadInput(f"the backup in {path} was written by a newer jsctl", "upgrade jsctl")
    if META not in files:
        raise BadInput(f"{path} does not hold a backup of a stream", f"{META} is missing")
    if not data_name:
        raise BadInput(f"the backup in {path} is truncated", f"{DATA} is missing")
    meta = _parse_object(files[META], f"{META} in {path}")
    config, state, edit = meta.get("config"), meta.get("state", {}), meta.get("edit")
    if not isinstance(config, dict) or not isinstance(state, dict) or not _is_name(config.get("name")):
        raise BadInput(f"{META} in {path} does not describe a stream", "config and state are missing")
    if any(type(state.get(key, 0)) is not int for key in _STATE_NUMBERS) or not _is_edit(edit):
        raise BadInput(f"the state in {META} in {path} is malformed", UNUSABLE)
    return Backup(path, config, state, edit, manifest, data_name, size, packed, files[META])


def _is_edit(edit: Any) -> bool:
    """Return whether this is how an edit is recorded, or None."""
    if edit is None:
        return True
    options = edit.get("options") if isinstance(edit, dict) else None
    return isinstance(options, list) and all(isinstance(option, str) for option in options)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _check_manifest(manifest: Json, path: Path) -> None:
    """Raise BadInput for a manifest whose values have other types than those that jsctl writes."""
    saved, consumers = manifest.get("files", {}), manifest.get("consumers", [])
    account, format = manifest.get("account", {}), manifest.get("format", 0)
    sizes_and_digests = saved.values() if isinstance(saved, dict) else [None]
    if not (
        type(format) is int
        and all(isinstance(entry, dict) and type(entry.get("bytes")) is int for entry in sizes_and_digests)
        and isinstance(consumers, list)
        and all(isinstance(consumer, dict) for consumer in consumers)
        and isinstance(account, dict)
        and type(account.get("streams", 0)) is int
    ):
        raise BadInput(f"{MANIFEST} in {path} is malformed", UNUSABLE)


def find_snapshot_fault(scanner: FrameScanner) -> str:
    """Return why a scanned snapshot is incomplete; empty when it is complete."""
    if not scanner.is_whole:
        return "it is truncated"
    try:
        return "" if scanner.ends_with(ARCHIVE_END) else "its end is missing"
    except ValueError as error:
        return str(error)


def _read_folder(path: Path) -> tuple[dict[str, bytes], str, int]:
    """Return the contents of the small files, and name and size of the snapshot; its name is empty without
    one.

    Raises BadInput for two snapshots.
    """
    files = {
        name: read_bytes(path / name, "", _MAX_META_SIZE, regular=True)
        for name in (META, MANIFEST)
        if (path / name).is_file()
    }
    names = [name for name in (DATA, LEGACY_DATA) if (path / name).is_file()]
    if len(names) > 1:
        raise BadInput(
            f"{path} holds both {DATA} and {LEGACY_DATA}", "remove the one that does not belong to it"
        )
    return files, "".join(names), (path / names[0]).stat().st_size if names else 0


def _read_packed(packed: Path, path: Path) -> tuple[dict[str, bytes], str, int]:
    """Read a backup from a .tgz file; return what `_read_folder` returns. path: its name in errors."""
    files: dict[str, bytes] = {}
    data_name, size = "", 0
    try:
        with tarfile.open(packed, "r:gz", tarinfo=SafeMember) as tar:
            for member in tar:
                name = Path(member.name).name
                if name in (DATA, LEGACY_DATA) and member.isfile():
                    data_name, size = name, member.size
                    break  # jsctl writes the small files before it
                if name in (META, MANIFEST) and member.isfile() and member.size < _MAX_META_SIZE:
                    files[name] = cast(IO[bytes], tar.extractfile(member)).read()
    except DAMAGES as error:
        if not is_packed(path):
            raise BadInput(f"{path} is not a backup", "name a folder, or a .tgz file") from None
        raise BadInput(f"the backup in {path} is damaged: {error}", UNUSABLE) from None
    return files, data_name, size


def _parse_object(data: bytes, label: str) -> Json:
    try:
        content = parse_json(data)
    except ValueError:
        raise BadInput(f"{label} is not JSON", UNUSABLE) from None
    if not isinstance(content, dict):
        raise BadInput(f"{label} is not a JSON object", UNUSABLE)
    return content
