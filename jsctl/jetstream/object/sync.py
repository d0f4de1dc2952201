"""The differences between the files of a folder and the objects of a bucket."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from jsctl.errors import BadInput
from jsctl.files import is_temporary, resolve_path
from jsctl.jetstream.object.model import ObjectInfo, format_digest


class Change(NamedTuple):
    """The change that a sync makes for one name."""

    kind: Literal["add", "replace", "remove"]
    name: str
    size: int  #: bytes


class Plan(NamedTuple):
    """The plan of a sync. changes: sorted by name, removals last. same: number of files that need no change.
    ignored: names that cannot be files, with the reason."""

    changes: Sequence[Change]
    same: int
    ignored: Mapping[str, str]


def list_files(folder: Path) -> tuple[dict[str, Path], dict[str, str]]:
    """Return the regular files below a folder by their names in a bucket, with slashes between the parts, and
    the reasons for leaving others out, by name. Links to folders are not followed. Raises BadInput."""
    if not folder.is_dir():
        raise BadInput(f"{folder} is not a folder")
    files: dict[str, Path] = {}
    ignored: dict[str, str] = {}
    for root, folders, names in os.walk(folder, onerror=_raise_unreadable):
        folders.sort()
        links = [name for name in folders if Path(root, name).is_symlink()]
        for name in sorted([*names, *links]):
            path = Path(root, name)
            own_name = path.relative_to(folder).as_posix()
            if reason := _explain_ignored(path):
                ignored[own_name] = reason
            elif not is_temporary(name):
                files[own_name] = path
    return files, ignored


def _explain_ignored(path: Path) -> str:
    """Return why something is not a file that can be stored; empty for one that can."""
    if path.is_file():
        return ""
    if path.is_dir():
        return f"a link to the folder {path.readlink()}"
    return f"a link to {path.readlink()}, which does not exist" if path.is_symlink() else "not a regular file"


def _raise_unreadable(error: OSError) -> None:
    raise BadInput(f"cannot read {error.filename}: {error.strerror}")


def plan_upload(files: Mapping[str, Path], objects: Mapping[str, ObjectInfo], *, remove: bool) -> Plan:
    """Return the changes that make a bucket equal to a folder. remove: also remove objects without a file."""
    changes: list[Change] = []
    for name, path in sorted(files.items()):
        existing = objects.get(name)
        if existing is None:
            changes.append(Change("add", name, path.stat().st_size))
        elif not is_same(path, existing):
            changes.append(Change("replace", name, path.stat().st_size))
    same = len(files) - len(changes)
    if remove:
        changes += [
            Change("remove", name, info.size) for name, info in sorted(objects.items()) if name not in files
        ]
    return Plan(changes, same, {})


def plan_download(
    folder: Path, files: Mapping[str, Path], objects: Mapping[str, ObjectInfo], *, remove: bool
) -> Plan:
    """Return the changes that make a folder equal to a bucket. remove: also remove files without an
    object."""
    changes: list[Change] = []
    ignored: dict[str, str] = {}
    same = 0
    for name, info in sorted(objects.items()):
        if info.link is not None:
            ignored[name] = f"a link to {info.link}"
            continue
        try:
            path = find_path(folder, name)
        except BadInput as error:
            ignored[name] = error.message
            continue
        if not path.exists():
            changes.append(Change("add", name, info.size))
        elif not path.is_file():
            ignored[name] = "a folder of that name is there"
        elif not is_same(path, info):
            changes.append(Change("replace", name, info.size))
        else:
            same += 1
    if remove:
        changes += [
            Change("remove", name, path.stat().st_size)
            for name, path in sorted(files.items())
            if name not in objects
        ]
    return Plan(changes, same, ignored)


def is_same(path: Path, object_info: ObjectInfo) -> bool:
    """Return whether a file and an object have the same content. Raises BadInput for a file that cannot be
    read."""
    try:
        if object_info.link is not None or path.stat().st_size != object_info.size:
            return False
        with path.open("rb") as file:
            return format_digest(hashlib.file_digest(file, "sha256").digest()) == object_info.digest
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from None


def find_path(folder: Path, name: str) -> Path:
    """Return the path below a folder that an object's name stands for. Raises BadInput for a name that leads
    out of the folder or that no file can have."""
    parts = name.split("/")
    if name.startswith("/"):
        raise BadInput("its name begins with a slash")
    if any(part in ("", ".", "..") for part in parts):
        raise BadInput("its name has an empty part, . or ..")
    if any(not c.isprintable() for c in name) or "\\" in name:
        raise BadInput("its name has characters that file names should not have")
    if any(len(part.encode()) > 255 for part in parts):
        raise BadInput("its name is too long for a file")
    if any(is_temporary(part) for part in parts):
        raise BadInput("its name is one of jsctl's own")
    path = folder.joinpath(*parts)
    # A link in the folder may lead out of it.
    if not resolve_path(path).is_relative_to(resolve_path(folder)):
        raise BadInput("its name leads out of the folder")
    return path


def build_file_name(name: str) -> str:
    """Return the default name of the file that an object is written to: the last part of its name. Raises
    BadInput for one that no file should have."""
    last = name.rstrip("/").rpartition("/")[2]
    try:
        find_path(Path("/"), last)
    except BadInput as error:
        raise BadInput(
            f"object {name!r} has no file name: {error.message}", "name a file with --output"
        ) from None
    return last
