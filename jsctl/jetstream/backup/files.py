"""A stream's backup on disk: a folder with the server's snapshot as it arrived, or the same in a .tgz file.

This file is long because what a backup consists of and how it is opened share the names of its files.

backup.json     {config, state}, as the `nats` tool writes it; `edit` says from what it was edited
stream.arc.s2   the snapshot; stream.tar.s2 that of a server before 2.15, or of any server by older tools
jsctl.json      sizes and SHA-256 of both, the consumers, and whether the backup was finished; at its end the
                SHA-256 of what is before

A folder of the `nats` tool, and one that was edited, has the first two. An unfinished backup has no
backup.json, so that other tools refuse it as well; its snapshot is in stream.arc.s2.partial.

A link of a chain, which was made `--since` another backup, its parent, has other names in place of the
second, so that other tools do not take it for all of the stream:

since.arc.s2    an archive with the stream's state and consumers, and the messages that its parent lacks
gone.txt        ranges of sequences up to the parent's last one that hold no message, `first last` a line

The manifest of a link names its parent, with the SHA-256 of the parent's manifest. `chain` reads a link and
its parents as one snapshot.

In an encrypted backup, each of these files is an age file NAME.age (see `encryption`); sizes and digests are
those of what it holds. A chain is encrypted as a whole, or not at all.
"""

import hashlib
import json
import os
import shutil
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, cast

from jsctl.base.files import (
    is_temporary,
    naming_write_errors,
    open_input,
    read_bytes,
    resolve_path,
    temporary_folder,
)
from jsctl.base.json_text import parse_json
from jsctl.base.signals import interrupt_handler
from jsctl.errors import BadInput, NotFound
from jsctl.jetstream.api import Json
from jsctl.jetstream.backup.encryption import ENDING, NO_KEYS, Keys, decrypt, opening_decrypted
from jsctl.jetstream.backup.s2 import ARCHIVE_END, FrameScanner
from jsctl.jetstream.backup.target import find_present_path, remove_path

DATA, META, MANIFEST = "stream.arc.s2", "backup.json", "jsctl.json"
LEGACY_DATA = "stream.tar.s2"
LINK_DATA, GONE = "since.arc.s2", "gone.txt"
PARTIAL_DATA = DATA + ".partial"
PACKED = "packed"
"""Name of a .tgz file while it is being written."""

UNFINISHED = "a backup that was not finished"

FORMAT = 1
"""Version of the manifest."""

_SEAL = b',\n  "sha256": "'

DATA_NAMES = (DATA, LEGACY_DATA, LINK_DATA)

_BACKUP_FILES = frozenset({*DATA_NAMES, GONE, META, MANIFEST, PARTIAL_DATA, LEGACY_DATA + ".partial"})
STORED_DATA_NAMES = (*DATA_NAMES, *(name + ENDING for name in DATA_NAMES))
META_NAMES = (META, META + ENDING)
_SMALL_NAMES = (*META_NAMES, MANIFEST, MANIFEST + ENDING)
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


def strip_age(name: str) -> str:
    """Return the name of a backup's file without that it is encrypted."""
    return name.removesuffix(ENDING)


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
    names = {strip_age(entry.name) for entry in entries if not is_temporary(entry.name)}
    if names - _BACKUP_FILES:
        raise BadInput(f"{target} holds other files", "choose another target")
    return UNFINISHED if META not in names else "a backup"


def remove_backup_files(folder: Path) -> None:
    """Remove the files of a backup. Raises BadInput when there are others."""
    entries = list(folder.iterdir())
    names = {strip_age(entry.name) for entry in entries if not is_temporary(entry.name)}
    if names - _BACKUP_FILES:
        raise BadInput(f"{folder} holds other files", "remove it by hand")
    for entry in entries:
        remove_path(entry)


@dataclass(frozen=True, slots=True)
class Backup:
    """An opened backup. manifest: empty for a backup of the `nats` tool, and an edited one. packed: the .tgz
    file, or the copy of a pipe; None for a folder. parents: of a link of a chain, the first backup and the
    links after it."""

    path: Path
    config: Json
    state: Json
    edit: Json | None  #: from what it was edited, as `edit` records it
    manifest: Json
    data_name: str  #: DATA, LEGACY_DATA or LINK_DATA
    size: int  #: bytes of the snapshot, with those of its parents
    packed: Path | None
    digest: str  #: SHA-256 of its manifest, which is its identity; empty without one
    is_encrypted: bool
    _meta: bytes
    _keys: Keys
    parents: "tuple[Backup, ...]" = ()

    @property
    def stream(self) -> str:
        """Name of the stream that was backed up."""
        return str(self.config["name"])

    @property
    def consumers(self) -> list[Json]:
        """Configurations of the stream's consumers; empty when they were not saved."""
        return list(self.manifest.get("consumers") or [])

    @property
    def parts(self) -> "tuple[Backup, ...]":
        """The backups that make it up, the oldest first: itself alone, if it is not a link of a chain."""
        return (*self.parents, self)

    @contextmanager
    def open_file(self, name: str) -> Iterator[IO[bytes]]:
        """Yield one of its files, at its beginning. Raises BadInput; reading one that is encrypted, too."""
        with self._open_stored(self.get_stored_name(name)) as file:
            if not self.is_encrypted:
                yield file
                return
            with opening_decrypted(file, self._keys, name, self.path) as plain:
                yield plain

    @contextmanager
    def _open_stored(self, name: str) -> Iterator[IO[bytes]]:
        if self.packed is None:
            try:
                file = (self.path / name).open("rb")
            except OSError as error:
                raise BadInput(f"cannot read {name} of {self.path}: {error.strerror}", UNUSABLE) from None
            with file:
                yield file
            return
        with tarfile.open(self.packed, "r:gz", tarinfo=SafeMember) as tar:
            for member in tar:
                if member.isfile() and Path(member.name).name == name:
                    yield cast(IO[bytes], tar.extractfile(member))
                    while cast(IO[bytes], tar.fileobj).read(_READ_SIZE):
                        pass  # to the checksum at the end of the .tgz file
                    return
        raise BadInput(f"{self.path} does not hold {name}")

    def get_stored_name(self, name: str) -> str:
        """Return the name that one of its files has in the folder or the .tgz file."""
        return name + ENDING * self.is_encrypted

    def stat_parts(self) -> list[tuple[int, int]]:
        """Return size and time of change, in ns, of each snapshot: they differ if one was replaced."""
        paths = [part.packed or part.path / part.get_stored_name(part.data_name) for part in self.parts]
        statuses = [path.stat() for path in paths]
        return [(status.st_size, status.st_mtime_ns) for status in statuses]

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
def opening_backup(path: Path, keys: Keys = NO_KEYS) -> Iterator[Backup]:
    """Yield a stream's backup; a pipe is copied first, as a backup is read several times. Raises NotFound,
    BadInput, JsctlError on a full disk."""
    if not path.is_fifo() and not path.is_socket():
        yield open_backup(path, keys=keys)
        return
    with open_input(path) as pipe, opening_copy(pipe, path, keys) as backup:
        yield backup


@contextmanager
def opening_copy(pipe: IO[bytes], path: Path, keys: Keys = NO_KEYS) -> Iterator[Backup]:
    """Yield the backup that a pipe has as a .tgz file, which is copied to the folder for temporary files.
    path: what errors name. Raises BadInput, JsctlError on a full disk."""
    with temporary_folder("jsctl-restore-") as folder:
        copy = folder / "backup.tgz"
        with naming_write_errors(copy), copy.open("wb") as file, interrupt_handler():
            shutil.copyfileobj(pipe, file, _READ_SIZE)
        if not copy.stat().st_size:
            raise BadInput(f"{path} ended without a backup", "see the errors of what writes it")
        yield open_backup(path, copy, keys)


def open_backup(path: Path, copy: Path | None = None, keys: Keys = NO_KEYS) -> Backup:
    """Open a folder or file with a stream's backup, and its parents. copy: what a pipe had. Raises NotFound,
    BadInput, MissingDependency."""
    link = part = open_part(path, copy, keys=keys)
    parents: list[Backup] = []
    if copy and "since" in link.manifest:
        raise BadInput(f"{path} has a link of a chain, which needs its parents beside it", "name its file")
    while since := part.manifest.get("since"):
        place = Path(os.path.normpath(resolve_path(part.path).parent / since["path"]))
        try:
            parent = open_part(place, digest=since["sha256"], keys=keys)
        except NotFound:
            raise BadInput(
                f"the backup in {part.path} needs its parent {place}, which does not exist",
                "put the parent back in its place, or use another backup",
            ) from None
        parents.insert(0, parent)
        part = parent
    return replace(link, parents=tuple(parents), size=sum(each.size for each in (*parents, link)))


def open_part(path: Path, copy: Path | None = None, *, digest: str = "", keys: Keys) -> Backup:
    """Open a backup without its parents. digest: that of its manifest, if it is known."""
    if strip_age(path.name) in _BACKUP_FILES and not path.is_dir():
        path = path.parent
    path = find_present_path(path)
    if not copy and not path.exists():
        raise NotFound(f"there is no backup at {path}")
    packed = copy or (path if path.is_file() else None)
    files, data_name, size = _read_folder(path) if packed is None else _read_packed(packed, path)
    is_encrypted = any(name.endswith(ENDING) for name in (*files, data_name))
    if is_encrypted:
        files, data_name = _decrypt_files(files, data_name, keys, path)
    found = hashlib.sha256(files[MANIFEST]).hexdigest() if MANIFEST in files else ""
    if digest and digest != found:
        raise BadInput(
            f"{path} is not the backup that the links after it were made since: its {MANIFEST} differs",
            "put that backup back in its place, or use another one",
        )
    manifest = _read_manifest(files[MANIFEST], path) if MANIFEST in files else {}
    if META not in files:
        raise BadInput(f"{path} does not hold a backup of a stream", f"{META} is missing")
    if not data_name:
        missing = LINK_DATA if "since" in manifest else DATA
        raise BadInput(f"the backup in {path} is truncated", f"{missing} is missing")
    if (data_name == LINK_DATA) != ("since" in manifest):
        raise BadInput(f"{MANIFEST} in {path} does not belong to {data_name}", UNUSABLE)
    meta = _parse_object(files[META], f"{META} in {path}")
    config, state, edit = meta.get("config"), meta.get("state", {}), meta.get("edit")
    if not isinstance(config, dict) or not isinstance(state, dict) or not _is_name(config.get("name")):
        raise BadInput(f"{META} in {path} does not describe a stream", "config and state are missing")
    if any(type(state.get(key, 0)) is not int for key in _STATE_NUMBERS) or not _is_edit(edit):
        raise BadInput(f"the state in {META} in {path} is malformed", UNUSABLE)
    if is_encrypted:
        size = int(manifest.get("files", {}).get(data_name, {}).get("bytes", size))
    return Backup(
        *(path, config, state, edit, manifest, data_name, size, packed, found),
        is_encrypted,
        files[META],
        keys,
    )


def find_parent(path: Path, keys: Keys) -> str | None:
    """Return the digest of the parent of a backup that cannot be opened; empty if it has none, None if that
    cannot be known."""
    try:
        files, data_name, _ = _read_packed(path, path) if path.is_file() else _read_folder(path)
    except (BadInput, OSError):
        return None
    name = next((name for name in (MANIFEST, MANIFEST + ENDING) if name in files), "")
    try:
        content = (
            decrypt(files[name], keys, MANIFEST, path) if name.endswith(ENDING) else files.get(name, b"")
        )
        manifest = parse_json(content) if _is_sealed(content) else None
    except (BadInput, ValueError):
        manifest = None
    if isinstance(manifest, dict) and _is_link(manifest):
        return str(manifest.get("since", {}).get("sha256", ""))
    return "" if strip_age(data_name) in (DATA, LEGACY_DATA) else None


def _decrypt_files(
    files: dict[str, bytes], data_name: str, keys: Keys, path: Path
) -> tuple[dict[str, bytes], str]:
    """Return the files, decrypted, and the name of the data, both without the ending. Raises BadInput if some
    are not encrypted."""
    names = [name for name in (*files, data_name) if name]
    if plain := [name for name in names if not name.endswith(ENDING)]:
        encrypted = next(name for name in names if name.endswith(ENDING))
        raise BadInput(f"{path} holds both {encrypted} and {plain[0]}", "remove what does not belong to it")
    decrypted = {strip_age(name): data for name, data in files.items()}
    return {name: decrypt(data, keys, name, path) for name, data in decrypted.items()}, strip_age(data_name)


def _read_manifest(content: bytes, path: Path) -> Json:
    """Return the manifest of a backup. Raises BadInput for one that cannot be used."""
    manifest = _parse_object(content, f"{MANIFEST} in {path}")
    _check_manifest(manifest, path)
    if not manifest.get("complete"):
        raise BadInput(f"the backup in {path} was not finished", "back the stream up again")
    if int(manifest.get("format", 0)) > FORMAT:
        raise BadInput(f"the backup in {path} was written by a newer jsctl", "upgrade jsctl")
    if "created" in manifest and not _is_sealed(content):
        raise BadInput(f"{MANIFEST} in {path} was changed after the backup", UNUSABLE)
    return manifest


def seal_manifest(content: Json) -> bytes:
    """Return a manifest as the bytes of its file, with a digest at its end."""
    text = json.dumps(content, indent=2).encode().removesuffix(b"\n}")
    return text + _SEAL + hashlib.sha256(text).hexdigest().encode() + b'"\n}\n'


def _is_sealed(manifest: bytes) -> bool:
    text, _, seal = manifest.rpartition(_SEAL)
    return seal == hashlib.sha256(text).hexdigest().encode() + b'"\n}\n'


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
        and _is_link(manifest)
        and isinstance(account, dict)
        and type(account.get("streams", 0)) is int
    ):
        raise BadInput(f"{MANIFEST} in {path} is malformed", UNUSABLE)


def _is_link(manifest: Json) -> bool:
    """Return whether what a manifest says of a chain has the types that jsctl writes; also without it."""
    if "since" not in manifest:
        return True
    since, chain = manifest["since"], manifest.get("chain")
    return (
        isinstance(since, dict)
        and isinstance(chain, dict)
        and all(_is_name(since.get(key)) for key in ("path", "sha256"))
        and all(type(chain.get(key)) is int for key in ("messages", "bytes", "new", "gone"))
        and "created" in manifest
        and {LINK_DATA, GONE, META} == set(manifest.get("files", {}))
    )


def find_snapshot_fault(scanner: FrameScanner) -> str:
    """Return why a scanned snapshot is incomplete; empty when it is complete."""
    if not scanner.is_whole:
        return "it is truncated"
    try:
        return "" if scanner.ends_with(ARCHIVE_END) else "its end is missing"
    except ValueError as error:
        return str(error)


def _read_folder(path: Path) -> tuple[dict[str, bytes], str, int]:
    """Return the contents of the small files, and name and size of the snapshot, all as they are stored; its
    name is empty without one.

    Raises BadInput for two snapshots.
    """
    files = {
        name: read_bytes(path / name, "", _MAX_META_SIZE, regular=True)
        for name in _SMALL_NAMES
        if (path / name).is_file()
    }
    names = [name for name in STORED_DATA_NAMES if (path / name).is_file()]
    if len(names) > 1:
        raise BadInput(
            f"{path} holds both {names[0]} and {names[1]}", "remove the one that does not belong to it"
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
                if name in STORED_DATA_NAMES and member.isfile():
                    data_name, size = name, member.size
                    break  # jsctl writes the small files before it
                if name in _SMALL_NAMES and member.isfile() and member.size < _MAX_META_SIZE:
                    files[name] = cast(IO[bytes], tar.extractfile(member)).read()
    except DAMAGES as error:
        if not (is_packed(path) or _is_compressed(packed)):
            raise BadInput(f"{path} is not a backup", "name a folder, or a .tgz file") from None
        raise BadInput(f"the backup in {path} is damaged: {error}", UNUSABLE) from None
    return files, data_name, size


def _is_compressed(path: Path) -> bool:
    """Return whether a file begins as a .tgz file does."""
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def _parse_object(data: bytes, label: str) -> Json:
    try:
        content = parse_json(data)
    except ValueError:
        raise BadInput(f"{label} is not JSON", UNUSABLE) from None
    if not isinstance(content, dict):
        raise BadInput(f"{label} is not a JSON object", UNUSABLE)
    return content
