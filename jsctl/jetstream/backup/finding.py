"""The backups in a folder, as a list to choose from."""

import os
from itertools import islice
from pathlib import Path

from jsctl.base.files import is_temporary
from jsctl.errors import JsctlError
from jsctl.jetstream.backup import files
from jsctl.jetstream.backup.account_files import UNFINISHED

_MAX_ENTRIES = 1000  #: entries of a folder that are examined


def list_stream_backups(folder: Path) -> list[Path]:
    """Return the backups of streams in a folder, by name."""
    return [path for path in _list_entries(folder, None) if _is_stream_backup(path)]


def find_stream_backups(folder: Path) -> list[tuple[str, Path]]:
    """Return the backups of streams in a folder and in the account backups that it holds, each with a title;
    the newest first."""
    backups = list_stream_backups(folder)
    for path in _list_entries(folder):
        backups += [below for below in _list_entries(path) if _is_stream_backup(below)]
    return _add_titles(backups)


def find_account_backups(folder: Path) -> list[tuple[str, Path]]:
    """Return the backups of accounts in a folder, each with a title; the newest first."""
    return _add_titles([path for path in _list_entries(folder) if _is_account_backup(path)])


def _add_titles(paths: list[Path]) -> list[tuple[str, Path]]:
    return [(str(path), path) for path in sorted(paths, key=lambda path: -_read_change_time(path))]


def _read_change_time(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0


def _list_entries(folder: Path, most: int | None = _MAX_ENTRIES) -> list[Path]:
    """Return the entries of a folder that are neither hidden nor temporary; none when it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in islice(entries, most)]
    except OSError:
        return []
    return [folder / name for name in sorted(names) if name[0] != "." and not is_temporary(name)]


def _is_stream_backup(path: Path) -> bool:
    if files.is_packed(path):
        return path.is_file()
    return (
        path.is_dir()
        and any((path / name).is_file() for name in files.META_NAMES)
        and any((path / name).is_file() for name in files.STORED_DATA_NAMES)
    )


def _is_account_backup(path: Path) -> bool:
    try:
        entries = [below for below in _list_entries(path) if below.name != UNFINISHED]
        return bool(entries) and all(below.is_dir() and files.describe_existing(below) for below in entries)
    except (JsctlError, OSError):
        return False
