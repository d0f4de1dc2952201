"""What POSIX systems have and Windows lacks: locks, some flags of files, some signals."""

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
"""SIGHUP, where there is one."""


def has_locks() -> bool:
    """Return whether `lock` works here."""
    return fcntl is not None


def lock(file: int | IO[bytes] | IO[str], *, wait: bool = True, shared: bool = False) -> None:
    """Lock an open file or folder until it is closed; without locks (Windows) do nothing.

    Raises BlockingIOError where another process has it and `wait` is off, OSError where there are no locks.
    """
    if fcntl is not None:
        how = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        fcntl.flock(file, how if wait else how | fcntl.LOCK_NB)


def open_folder(path: Path) -> int:
    """Open a folder, not a link to one, to lock it or to sync it to disk. Raises OSError.

    Windows cannot open folders: there it is a temporary file that nobody else sees.
    """
    if os.name == "nt":
        return os.open(os.devnull, os.O_RDONLY)
    return os.open(path, os.O_RDONLY | NOFOLLOW | CLOEXEC | getattr(os, "O_DIRECTORY", 0))


def set_mode(handle: int, mode: int) -> None:
    """Set the permissions of an open file, on systems that have them. Raises OSError."""
    if hasattr(os, "fchmod"):
        os.fchmod(handle, mode)


def is_own(status: os.stat_result) -> bool:
    """Return whether a file belongs to this user."""
    return not hasattr(os, "getuid") or status.st_uid == os.getuid()
