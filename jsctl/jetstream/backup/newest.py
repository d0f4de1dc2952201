"""The newest good backup of each stream in a folder."""

from pathlib import Path
from typing import NamedTuple

from jsctl.base.units import parse_time_ns
from jsctl.errors import JsctlError, NotFound
from jsctl.jetstream.backup.encryption import Keys
from jsctl.jetstream.backup.events import Advance
from jsctl.jetstream.backup.files import open_backup, open_part
from jsctl.jetstream.backup.finding import list_stream_backups
from jsctl.jetstream.backup.verification import verify_backup


class NewestBackup(NamedTuple):
    """The newest good backup of a stream. path: None if there is none. started: in ns since the epoch.

    damaged: newer ones, and why each is not good.
    """

    stream: str
    path: Path | None
    started: int
    damaged: list[str]


def find_newest(folder: Path, keys: Keys, advance: Advance = lambda size: None) -> list[NewestBackup]:
    """Return the newest backup of each stream that is intact, in a folder and in account backups in it.

    Reads all of each backup that it returns, and of damaged ones that are newer. Backups that do not say when
    they were made are left out. advance: called with the number of bytes read. Blocks: call it in a thread.
    Raises NotFound for a folder without backups.
    """
    if not folder.is_dir():
        raise NotFound(f"there is no folder {folder}")
    paths = list_stream_backups(folder)
    below = (path for path in sorted(folder.iterdir()) if path.is_dir() and path not in paths)
    paths += [path for account in below for path in list_stream_backups(account)]
    by_stream: dict[str, list[tuple[int, Path]]] = {}
    unreadable: list[NewestBackup] = []
    for path in paths:
        try:
            part = open_part(path, keys=keys)
            started = parse_time_ns(str(part.manifest.get("started", "")))
        except ValueError:
            continue
        except (JsctlError, OSError) as error:
            unreadable.append(NewestBackup("", None, 0, [f"{path}: {error}"]))
            continue
        by_stream.setdefault(part.stream, []).append((started, path))
    if not by_stream and not unreadable:
        raise NotFound(f"there is no backup in {folder} that says when it was made")
    newest = (
        _find_good(name, sorted(backups, reverse=True), keys, advance)
        for name, backups in sorted(by_stream.items())
    )
    return [*newest, *unreadable]


def _find_good(stream: str, backups: list[tuple[int, Path]], keys: Keys, advance: Advance) -> NewestBackup:
    damaged = []
    for started, path in backups:
        try:
            verify_backup(open_backup(path, keys=keys), advance)
        except (JsctlError, OSError) as error:
            damaged.append(str(error))
            continue
        return NewestBackup(stream, path, started, damaged)
    return NewestBackup(stream, None, 0, damaged)
