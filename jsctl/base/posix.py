"""Features of POSIX systems that Windows lacks: locks, an exchange of files, some flags of files, some
signals."""

import errno
import os
import signal
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

CLOEXEC: int = getattr(os, "O_CLOEXEC", 0)
NONBLOCK: int = getattr(os, "O_NONBLOCK", 0)
NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
HANGUP: tuple[int, ...] = tuple(getattr(signal, name) for name in ("SIGHUP",) if hasattr(signal, name))
"""SIGHUP, if there is one."""


def has_locks() -> bool:
    """Return whether this system has locks of files."""
    return fcntl is not None


def lock(file: int | IO[bytes] | IO[str], *, wait: bool = True, shared: bool = False) -> None:
    """Lock an open file or folder until it is closed; without locks (Windows) do nothing.

    Raises BlockingIOError when another process has locked it and `wait` is off, OSError on file systems
    without locks.
    """
    if fcntl is not None:
        operation = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        fcntl.flock(file, operation if wait else operation | fcntl.LOCK_NB)


def open_folder(path: Path) -> int:
    """Open a folder, not a link to one, to lock it or to sync it to disk. Raises OSError.

    Windows cannot open folders; there it opens the null device instead.
    """
    if os.name == "nt":
        return os.open(os.devnull, os.O_RDONLY)
    return os.open(path, os.O_RDONLY | NOFOLLOW | CLOEXEC | getattr(os, "O_DIRECTORY", 0))


def make_private_folder(path: Path) -> None:
    """Create a folder for secrets, which only this user can read, whatever the umask; missing folders above
    it likewise. Raises OSError."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)  # parents=True would leave those above to the umask


def open_private(path: str | Path, flags: int) -> int:
    """Open a file as `os.open` does, also as an `opener` for `open`: a new one can be read by this user
    alone, whatever the umask. Raises OSError."""
    return os.open(path, flags | CLOEXEC, 0o600)


def set_mode(handle: int, mode: int) -> None:
    """Set the permissions of an open file, on systems that have them. Raises OSError."""
    if hasattr(os, "fchmod"):
        os.fchmod(handle, mode)


_EXCHANGE = 2  #: RENAME_EXCHANGE of renameat2(2)
_AT_FDCWD = -100


def exchange(first: Path, second: Path) -> bool:
    """Exchange two files or folders in one step. Returns False if the system cannot. Raises OSError."""
    if os.name == "nt":
        return False
    import ctypes  # 3 ms

    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if renameat2 is None:
        return False
    if not renameat2(_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _EXCHANGE):
        return True
    code = ctypes.get_errno()
    if code in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        return False
    raise OSError(code, os.strerror(code), str(second))


def is_own(status: os.stat_result) -> bool:
    """Return whether a file belongs to this user."""
    return not hasattr(os, "getuid") or status.st_uid == os.getuid()
