"""An account's backup on disk: a folder with a folder for each stream; and what its streams share.

While a backup is being made, and when a stream failed in it, the folder holds `unfinished.json`. A complete
backup consists of the streams' folders only, as the `nats` tool expects.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from jsctl.base.command_lines import build_line
from jsctl.base.files import CONFIG_SIZE, is_temporary, read_bytes, write_atomically
from jsctl.base.json_text import parse_json
from jsctl.errors import BadInput, JsctlError, NotFound, Unreachable
from jsctl.jetstream.api import Json
from jsctl.jetstream.backup import files
from jsctl.jetstream.backup.encryption import ENDING, NO_KEYS, Keys
from jsctl.jetstream.backup.target import find_present_path
from jsctl.jetstream.config.origins import list_origins
from jsctl.nats.connection import Connection

UNFINISHED = "unfinished.json"
"""Name of a JSON file `{streams: number, failed: {stream: reason}}`."""

Status = Literal["saved", "restored", "updated", "unchanged", "warning", "failed"]


class StreamOutcome(NamedTuple):
    """The outcome of backing up or restoring one stream of an account."""

    stream: str
    messages: int
    bytes: int
    status: Status
    remark: str = ""


class AccountResult(NamedTuple):
    """The outcome of backing up or restoring an account."""

    streams: list[StreamOutcome]
    duration: int  #: ns


class SharedConnection:
    """The connection of a backup or restore of many streams: once it is lost for good, no stream waits for it
    again."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lost = False

    async def check(self) -> None:
        """Wait until the connection is established. Raises Unreachable."""
        if self._lost:
            raise Unreachable("it was not tried because the connection was lost")
        try:
            await self._connection.wait_until_connected()
        except Unreachable:
            self._lost = True
            raise


@dataclass(frozen=True, slots=True)
class AccountBackup:
    """The contents of an account's backup folder.

    backups: the streams, origins before their mirrors. broken: entries that cannot be restored. missing:
    number of streams that were backed up and are no longer there.
    """

    backups: Sequence[files.Backup]
    broken: Sequence[StreamOutcome]
    missing: int

    @property
    def size(self) -> int:
        """Total size of the snapshots in bytes."""
        return sum(backup.size for backup in self.backups)


def build_outcome(stream: str, status: Status, state: Json | None = None, remark: str = "") -> StreamOutcome:
    """Return a stream's outcome. state: the stream's, which has its numbers of messages and bytes."""
    state = state or {}
    return StreamOutcome(stream, int(state.get("messages", 0)), int(state.get("bytes", 0)), status, remark)


def describe_existing(target: Path) -> str:
    """Describe what a new backup would replace; empty for nothing.

    Raises BadInput for anything that is not an account's backup.
    """
    if not target.exists():
        return ""
    if not target.is_dir():
        raise BadInput(f"{target} already exists and is not a folder", "choose another target")
    entries = [entry for entry in target.iterdir() if not is_temporary(entry.name)]
    for entry in entries:
        if entry.name != UNFINISHED and (not entry.is_dir() or not files.describe_existing(entry)):
            raise BadInput(f"{target} holds other files", "choose another target")
    if not entries:
        return ""
    return "an account's backup" + (" that was not finished" if (target / UNFINISHED).exists() else "")


def check_encrypted(target: Path, recipients: Sequence[str]) -> None:
    """Raise BadInput for a target that holds other files, or an encrypted backup if the new one is not."""
    if describe_existing(target) and not recipients:
        for path in target.glob(f"*/{files.META}{ENDING}"):
            raise BadInput(
                f"the backup in {path.parent} is encrypted, and the new one would not be", "add --encrypt-to"
            )


def open_account_backup(folder: Path, keys: Keys = NO_KEYS) -> AccountBackup:
    """Open a folder with the backups of an account's streams. Raises NotFound, BadInput."""
    folder = find_present_path(folder)
    if not folder.is_dir():
        raise NotFound(f"there is no backup of an account at {folder}")
    if any((folder / name).exists() for name in (*files.META_NAMES, files.MANIFEST)):
        raise BadInput(
            f"{folder} is a stream's backup, not an account's",
            f"{build_line('backup restore stream', str(folder))} takes it",
        )
    backups: list[files.Backup] = []
    broken: list[StreamOutcome] = []
    for entry in sorted(folder.iterdir()):
        if entry.name == UNFINISHED or is_temporary(entry.name):
            continue
        try:
            backups.append(files.open_backup(entry, keys=keys))
        except (JsctlError, OSError) as error:
            broken.append(build_outcome(entry.name, "failed", remark=str(error)))
    if not backups and not broken:
        raise NotFound(f"there is no backup in {folder}")
    broken_names = {entry.stream for entry in broken}
    for name, reason in _read_failed_streams(folder / UNFINISHED).items():
        if name not in broken_names:
            broken.append(build_outcome(name, "failed", remark=f"it was not backed up: {reason}"))
    counts = (int((backup.manifest.get("account") or {}).get("streams", 0)) for backup in backups)
    missing = max(counts, default=0) - len(backups) - len(broken)
    return AccountBackup(_sort_origins_first(backups), broken, max(0, missing))


def write_unfinished(folder: Path, streams: int, failed: Mapping[str, str] | None = None) -> None:
    """Mark an account's backup as unfinished. failed: stream -> reason."""
    content: Json = {"streams": streams, **({"failed": failed} if failed else {})}
    write_atomically(folder / UNFINISHED, json.dumps(content, indent=2) + "\n", mode=None)


def _read_failed_streams(path: Path) -> Mapping[str, str]:
    try:
        failed = parse_json(read_bytes(path, "", CONFIG_SIZE, regular=True)).get("failed") or {}
    except (BadInput, ValueError, AttributeError):
        return {}
    return failed if isinstance(failed, dict) else {}


def _sort_origins_first(backups: Sequence[files.Backup]) -> list[files.Backup]:
    """Sort backups so that each mirror comes after its origin.

    A mirror that exists before its origin would try to reach it, at ever longer intervals.
    """
    by_name = {backup.stream: backup for backup in backups}
    ordered: dict[str, files.Backup] = {}

    def place(backup: files.Backup, above: frozenset[str]) -> None:
        for origin in list_origins(backup.config):
            name = str(origin.get("name", ""))
            if name in by_name and name not in above and name not in ordered:
                place(by_name[name], above | {name})
        ordered.setdefault(backup.stream, backup)

    for backup in backups:
        place(backup, frozenset({backup.stream}))
    return list(ordered.values())
