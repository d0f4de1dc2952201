"""The target of a backup, locked for one run of jsctl at a time.

A backup is written beside its target under a temporary name, and takes the target's place when it is
complete. A process that is killed leaves the older backup or the new one, and files that the next run
removes:

    .jsctl-NAME.lock         held by the run that writes NAME; the kernel frees it when that run ends
    .jsctl-NAME.partial-XX   a backup that is being written, or that was replaced just now
    .jsctl-NAME.old          the older backup, while the new one takes its place where a file system cannot
                             exchange two names; it counts as the backup when NAME is missing

A folder that is a mount point, or whose parent cannot be written, is filled in place.
"""

import contextlib
import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from jsctl.base import posix
from jsctl.base.files import TEMPORARY, resolve_path, sync_folder
from jsctl.base.posix import lock, open_folder, open_private
from jsctl.errors import BadInput, JsctlError

_MAX_NAME_SIZE = 160
"""Maximum number of bytes of a target's name that temporary names contain; longer ones become a digest."""


class BackupTarget:
    """A target that this process has locked (see `lock_target`)."""

    def __init__(self, path: Path, in_place: bool) -> None:
        self.path = path
        self.in_place = in_place  #: whether the backup is moved into the existing folder
        self._parent = path if in_place else path.parent

    def make_path(self) -> Path:
        """Return an unused path beside the target, or in it."""
        return self._parent / f"{_build_prefix(self.path)}partial-{os.urandom(4).hex()}"

    def put(self, source: Path, *, last: Sequence[str] = ()) -> None:
        """Move a complete folder or file to the target's place, and remove what was there before.

        last: names of the file that is moved last when a folder is filled in place. Raises OSError.
        """
        path = self.path
        if self.in_place:
            for entry in sorted(source.iterdir(), key=lambda entry: entry.name in last):
                entry.rename(path / entry.name)
            source.rmdir()
        elif not os.path.lexists(path):
            source.rename(path)
        elif source.is_file() and path.is_file():
            source.replace(path)
        elif posix.exchange(source, path):
            remove_path(source)
        else:  # a file system that cannot exchange two names
            old_path = _build_old_path(path)
            path.rename(old_path)
            source.rename(path)
            remove_path(old_path)
        sync_folder(self._parent)

    def check_replaceable(self, existing: str) -> None:
        """Raise BadInput for a backup that cannot be replaced in one step. existing: a description of it."""
        if self.in_place and existing:
            raise BadInput(
                f"{existing} in {self.path} cannot be replaced in one step, as it cannot be renamed",
                "remove it first, or choose another target",
            )

    def recover(self) -> None:
        """Clean up after runs that were killed: put an older backup back in its place, and remove temporary
        files."""
        old_path = _build_old_path(self.path)
        if not self.in_place and os.path.lexists(old_path) and not os.path.lexists(self.path):
            old_path.rename(self.path)
        leftover = re.compile(re.escape(_build_prefix(self.path)) + "(partial-[0-9a-f]{8}|old)")
        for entry in list(self._parent.iterdir()):
            if leftover.fullmatch(entry.name):
                remove_path(entry)


@contextlib.contextmanager
def lock_target(path: Path) -> Iterator[BackupTarget]:
    """Lock a target, and clean up after runs that were killed. Missing folders above it are created.

    Raises JsctlError while another process has the lock, OSError.
    """
    path = resolve_path(path)
    in_place = path.is_dir() and (path.is_mount() or not os.access(path.parent, os.W_OK | os.X_OK))
    missing = [] if in_place else [folder for folder in path.parents if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(exist_ok=True)
    try:
        with _lock_folder(path) if in_place else _lock_file(path):
            target = BackupTarget(path, in_place)
            target.recover()
            yield target
    finally:
        for folder in missing:
            with contextlib.suppress(OSError):  # not empty
                folder.rmdir()


def find_present_path(path: Path) -> Path:
    """Return where the backup of a target is: at its path, or where a killed run left it."""
    if os.path.lexists(path):
        return path
    old_path = _build_old_path(resolve_path(path))
    return old_path if old_path.exists() else path


def remove_path(path: Path) -> None:
    """Remove a file, or a folder with all that it holds. Raises OSError."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _build_prefix(path: Path) -> str:
    name = path.name
    if len(os.fsencode(name)) > _MAX_NAME_SIZE:
        name = hashlib.sha256(os.fsencode(name)).hexdigest()[:32]
    return f"{TEMPORARY}{name}."


def _build_old_path(path: Path) -> Path:
    return path.with_name(f"{_build_prefix(path)}old")


@contextlib.contextmanager
def _lock_file(path: Path) -> Iterator[None]:
    """Hold a lock file beside the target; it is removed at the end."""
    file = path.with_name(f"{_build_prefix(path)}lock")
    while True:
        handle = open_private(file, os.O_RDWR | os.O_CREAT)
        try:
            _lock(handle, path)
            if _is_same(handle, file):  # otherwise the run that had the lock has just removed the file
                break
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            file.unlink()
        os.close(handle)


@contextlib.contextmanager
def _lock_folder(path: Path) -> Iterator[None]:
    handle = open_folder(path)
    try:
        _lock(handle, path)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, path: Path) -> None:
    try:
        lock(handle, wait=False)
    except BlockingIOError:
        raise JsctlError(f"another jsctl is writing a backup to {path}", "wait until it has ended") from None


def _is_same(handle: int, file: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), file.stat())
    except FileNotFoundError:
        return False
