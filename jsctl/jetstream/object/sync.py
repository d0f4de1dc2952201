"""The differences between the files of a folder and the objects of a bucket."""

import hashlib
import os
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from jsctl.base.files import TEMPORARY, is_temporary, resolve_path
from jsctl.errors import BadInput
from jsctl.jetstream.object.model import ObjectInfo, format_digest, validate_object_name

_Advance = Callable[[int], object]

_READ_SIZE = 1 << 20
_JOINERS = "\u00ad\u200c\u200d"


class Change(NamedTuple):
    """The change that a sync makes for one name."""

    kind: Literal["add", "replace", "remove"]
    name: str
    size: int  #: bytes


class Plan(NamedTuple):
    """The plan of a sync. changes: sorted by name, removals last. same: number of files that need no change.

    Names with reasons: left_out: what the target cannot hold. preserved: what is not removed, as the source
    cannot hold it. one_way: what an upload stores and a download would not write back.
    """

    changes: Sequence[Change]
    same: int
    left_out: Mapping[str, str]
    preserved: Mapping[str, str]
    one_way: Mapping[str, str]


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


def plan_upload(
    folder: Path,
    files: Mapping[str, Path],
    objects: Mapping[str, ObjectInfo],
    advance: _Advance = lambda size: None,
    *,
    remove: bool,
) -> Plan:
    """Return the changes that make a bucket equal to a folder. remove: also remove objects without a file,
    unless the folder could not hold them. advance: called with the number of bytes read. Blocks: call it in a
    thread."""
    changes: list[Change] = []
    left_out: dict[str, str] = {}
    for name, path in sorted(files.items()):
        existing = objects.get(name)
        if reason := _explain_unstorable(name) or _explain_unreadable(path):
            left_out[name] = reason
        elif existing is None:
            changes.append(Change("add", name, path.stat().st_size))
        elif not is_same(path, existing, advance):
            changes.append(Change("replace", name, path.stat().st_size))
    same = len(files) - len(left_out) - len(changes)
    stored = [name for name in files if name not in left_out]
    others = sorted(objects.keys() - files.keys())
    preserved: dict[str, str] = {}
    if remove:
        reasons = {name: _explain_unwritable(folder, objects[name]) for name in others}
        preserved = {name: reason for name, reason in reasons.items() if reason}
        preserved |= _find_conflicts(
            folder, [*stored, *(name for name in others if name not in preserved)], others
        )
        changes += [Change("remove", name, objects[name].size) for name in others if name not in preserved]
        others = list(preserved)
    one_way = {name: reason for name in stored if (reason := _explain_name(name))}
    one_way |= _find_conflicts(folder, [*stored, *others], stored)
    return Plan(changes, same, left_out, preserved, one_way)


def plan_download(
    folder: Path,
    files: Mapping[str, Path],
    objects: Mapping[str, ObjectInfo],
    advance: _Advance = lambda size: None,
    *,
    remove: bool,
) -> Plan:
    """Return the changes that make a folder equal to a bucket. remove: also remove files without an object,
    unless the bucket could not hold them."""
    removed = {name: path for name, path in files.items() if name not in objects} if remove else {}
    left_out: dict[str, str] = {}
    same: list[str] = []
    wanted: list[str] = []
    for name, info in objects.items():
        if name in files and is_same(files[name], info, advance):
            same.append(name)
        elif reason := _explain_unwritable(folder, info, free=removed.values()):
            left_out[name] = reason
        else:
            wanted.append(name)
    # What is there already, under this very name, goes before what is not.
    ordered = [*sorted(same), *sorted(wanted, key=lambda name: (name not in files, name))]
    left_out |= _find_conflicts(folder, ordered, wanted)
    changes = [
        Change("replace" if folder.joinpath(name).exists() else "add", name, objects[name].size)
        for name in sorted(wanted)
        if name not in left_out
    ]
    preserved = {name: reason for name in removed if (reason := _explain_unstorable(name))}
    fold = _choose_fold(folder, [*objects, *removed])
    present = {fold(name): name for name in objects}
    preserved |= {
        name: f"there it is the same file as {twin}" for name in removed if (twin := present.get(fold(name)))
    }
    changes += [
        Change("remove", name, path.stat().st_size)
        for name, path in sorted(removed.items())
        if name not in preserved
    ]
    return Plan(changes, len(same), left_out, preserved, {})


def is_same(path: Path, object_info: ObjectInfo, advance: _Advance) -> bool:
    """Return whether a file and an object have the same content. Raises BadInput for a file that cannot be
    read."""
    try:
        if object_info.link is not None or path.stat().st_size != object_info.size:
            return False
        digest = hashlib.sha256()
        with path.open("rb") as file:
            while block := file.read(_READ_SIZE):
                digest.update(block)
                advance(len(block))
        return format_digest(digest.digest()) == object_info.digest
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from None


def find_path(folder: Path, name: str) -> Path:
    """Return the path below a folder that an object's name stands for. Raises BadInput for a name that leads
    out of the folder, through a link, or that no file can have."""
    if reason := _explain_name(name) or _explain_obstacle(folder, name):
        raise BadInput(reason)
    return folder.joinpath(name)


def build_file_name(name: str) -> str:
    """Return the default name of the file that an object is written to: the last part of its name. Raises
    BadInput for one that no file should have."""
    last = name.rstrip("/").rpartition("/")[2]
    if reason := _explain_name(last):
        raise BadInput(f"object {name!r} has no file name: {reason}", "name a file with --output")
    return last


def _explain_name(name: str) -> str:
    """Return why no file can have an object's name; empty for one that can."""
    parts = name.split("/")
    if name.startswith("/"):
        return "its name begins with a slash"
    if any(part in ("", ".", "..") for part in parts):
        return "its name has an empty part, . or .."
    if "\\" in name or any(_is_unsafe(c) for c in name):
        return "its name has characters that file names should not have"
    if any(len(part.encode()) > 255 for part in parts):
        return "its name is too long for a file"
    if any(is_temporary(part) for part in parts):
        return "its name is one of jsctl's own"
    return ""


def _is_unsafe(char: str) -> bool:
    """Return whether a character ends a line, or hides or reorders text; blanks of any width and joiners do
    not."""
    if char.isprintable():
        return False
    return unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"} and char not in _JOINERS


def _explain_unstorable(name: str) -> str:
    """Return why no object can have a file's name; empty for one that can."""
    try:
        validate_object_name(name)
    except BadInput as error:
        return error.message
    return ""


def _explain_unreadable(path: Path) -> str:
    return "" if os.access(path, os.R_OK) else "it cannot be read"


def _explain_unwritable(folder: Path, info: ObjectInfo, *, free: Iterable[Path] = ()) -> str:
    """Return why an object cannot be a file below a folder; empty for one that can. free: files that are
    removed before."""
    if info.link is not None:
        return f"a link to {info.link}"
    return info.damage or _explain_name(info.name) or _explain_obstacle(folder, info.name, free)


def _explain_obstacle(folder: Path, name: str, free: Iterable[Path] = ()) -> str:
    """Return what is in the place of an object's file, or of a folder of its path, that is neither."""
    *parents, last = name.split("/")
    path = folder
    for part in parents:
        path /= part
        if path.is_symlink():
            return _explain_link(folder, path)
        if os.path.lexists(path) and not path.is_dir() and path not in free:
            return f"{path.relative_to(folder)} is not a folder there"
    path /= last
    if path.is_symlink():
        return _explain_link(folder, path)
    if path.is_dir():
        return "a folder of that name is there"
    return "" if path.is_file() or not os.path.lexists(path) else "what is there is not a regular file"


def _explain_link(folder: Path, path: Path) -> str:
    """Return why nothing is written through a link: what it leads to has another name, or is elsewhere."""
    try:
        leads_out = not resolve_path(path).is_relative_to(resolve_path(folder))
    except OSError:  # it leads to itself
        leads_out = False
    return f"{path.relative_to(folder)} is a link there{' and leads out of the folder' if leads_out else ''}"


def _find_conflicts(folder: Path, names: Sequence[str], reported: Iterable[str]) -> dict[str, str]:
    """Return which names cannot be files of a folder together with the other names, and why: one that is a
    folder of another's path, and one that is the same file as an earlier one, where case does not count."""
    fold = _choose_fold(folder, names)
    folders: dict[str, str] = {}
    for name in names:
        for parent in _list_parents(name):
            folders.setdefault(fold(parent), name)
    conflicts: dict[str, str] = {}
    first: dict[str, str] = {}
    for name in names:
        key = fold(name)
        if key in folders:
            conflicts[name] = f"{folders[key]} needs a folder of that name"
        elif first.setdefault(key, name) != name:
            conflicts[name] = f"there it is the same file as {first[key]}"
    return {name: conflicts[name] for name in reported if name in conflicts}


def list_folders(names: Iterable[str]) -> set[str]:
    """Return the folders that files of these names are in, without the one that they are all below."""
    return {parent for name in names for parent in _list_parents(name)}


def _list_parents(name: str) -> list[str]:
    return [name[:end] for end, char in enumerate(name) if char == "/"]


def _choose_fold(folder: Path, names: Iterable[str]) -> Callable[[str], str]:
    """Return the function that makes equal what a folder takes for the same name."""
    names = list(names)
    paths = {*names, *list_folders(names)}
    if len({_fold(path) for path in paths}) == len(paths) or not _ignores_case(folder):
        return str
    return _fold


def _fold(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _ignores_case(folder: Path) -> bool:
    """Return whether the file system of a folder, or of the one where it is to be, ignores case."""
    while not folder.is_dir():
        folder = folder.parent
    probe = folder / f"{TEMPORARY}{os.urandom(6).hex()}-a"
    try:
        probe.touch(exist_ok=False)
    except OSError:
        return False
    try:
        return probe.with_name(probe.name.upper()).exists()
    finally:
        probe.unlink()
