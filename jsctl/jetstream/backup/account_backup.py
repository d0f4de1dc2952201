"""Backup and restore of all streams of an account: a folder with a folder for each stream.

While a backup is being made, and when a stream failed in it, the folder holds `unfinished.json`. A whole one
holds nothing but the streams' folders, as the `nats` tool wants it.
"""

import asyncio
import json
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jsctl.errors import BadInput, JsctlError, NotFound, Unreachable
from jsctl.files import write_atomically
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.backup import files, snapshot
from jsctl.jetstream.backup import stream_backup as backups
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.stream import config as configs
from jsctl.jetstream.stream import requests as streams
from jsctl.jetstream.stream.origins import origins_of

UNFINISHED = "unfinished.json"
_AT_ONCE = 4

Row = Json
"""What became of a stream: `{stream, messages, bytes, status, remark}`; the status "failed" is bad."""


def obstacle(target: Path) -> str:
    """What is at the target already; empty for nothing. Raises BadInput for what is no account's backup."""
    if not target.exists():
        return ""
    if not target.is_dir():
        raise BadInput(f"{target} is there already, and is no folder", "choose another target")
    entries = list(target.iterdir())
    for entry in entries:
        if entry.name != UNFINISHED and (not entry.is_dir() or not files.obstacle(entry)):
            raise BadInput(f"{target} holds other files", "choose another target")
    if not entries:
        return ""
    return "an account's backup" + (" that was not finished" if (target / UNFINISHED).exists() else "")


async def save(
    api: Api,
    target: Path,
    wanted: Sequence[str],
    options: backups.Options,
    *,
    told: files.Told | None = None,
) -> list[Row]:
    """Back up these streams, some at a time; gives a row for each.

    A target with an older backup stays as it is until the new one is whole. Raises OSError for a target that
    cannot be written.
    """
    folder = target.with_name(target.name + ".partial") if obstacle(target) else target
    if folder != target and obstacle(folder):
        clear(folder)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    mark = folder / UNFINISHED
    _write(mark, {"streams": len(wanted)})
    gate = asyncio.Semaphore(_AT_ONCE)
    line = _Line(api)

    async def one(name: str) -> Row:
        async with gate:
            try:
                await line.check()
                manifest = await backups.save(
                    api,
                    name,
                    folder / name,
                    options,
                    began=(lambda _state: told) if told else None,
                    more={"account": {"streams": len(wanted)}},
                )
            except (JsctlError, OSError) as error:
                return _row(name, "failed", remark=str(error))
            if options.consumers and "consumers" not in manifest:
                remark = "its consumers could not be listed; the snapshot has them"
                return _row(name, "warning", manifest["state"], remark)
            return _row(name, "saved", manifest["state"])

    rows = await _all(one(name) for name in wanted)
    if failed := {row["stream"]: row["remark"] for row in rows if row["status"] == "failed"}:
        _write(mark, {"streams": len(wanted), "failed": failed})
        return rows
    mark.unlink()
    if folder != target:
        old = target.with_name(target.name + ".old")
        target.rename(old)
        folder.rename(target)
        clear(old)
        old.rmdir()
    return rows


@dataclass(frozen=True, slots=True)
class Found:
    """What a folder holds. broken: rows of entries that cannot be restored. missing: how many streams that
    were backed up are not there."""

    backups: Sequence[files.Backup]
    broken: Sequence[Row]
    missing: int

    @property
    def size(self) -> int:
        return sum(backup.size for backup in self.backups)


def find(folder: Path) -> Found:
    """The streams in an account's backup, origins before their mirrors. Raises NotFound, BadInput."""
    if not folder.is_dir():
        raise NotFound(f"there is no account's backup at {folder}")
    if (folder / files.META).exists() or (folder / files.MANIFEST).exists():
        raise BadInput(f"{folder} is a stream's backup, not an account's", "jsctl stream restore takes it")
    found: list[files.Backup] = []
    broken: list[Row] = []
    for entry in sorted(folder.iterdir()):
        if entry.name == UNFINISHED:
            continue
        try:
            found.append(files.open_backup(entry))
        except (JsctlError, OSError) as error:
            broken.append(_row(entry.name, "failed", remark=str(error)))
    if not found and not broken:
        raise NotFound(f"there is no backup in {folder}")
    known = {row["stream"] for row in broken}
    for name, why in _failed(folder / UNFINISHED).items():
        if name not in known:
            broken.append(_row(name, "failed", remark=f"it was not backed up: {why}"))
    expected = max((int((b.manifest.get("account") or {}).get("streams", 0)) for b in found), default=0)
    return Found(_origins_first(found), broken, max(0, expected - len(found) - len(broken)))


async def verify(backup: files.Backup, told: files.Told | None = None) -> Row | None:
    """Compare a backup with its digests; a row when it is broken."""
    try:
        await asyncio.to_thread(backup.verify, told)
    except (JsctlError, OSError) as error:
        return _row(backup.stream, "failed", remark=str(error))
    return None


async def load(
    api: Api,
    wanted: Sequence[files.Backup],
    *,
    update: bool,
    force: bool,
    placement: Mapping[str, object],
    told: files.Told | None = None,
) -> list[Row]:
    """Restore streams that were verified, one after the other; gives a row for each.

    update: bring a stream that exists to the backup's configuration, and add the consumers that it lacks.
    force: remove what an unfinished restore left.
    """
    line = _Line(api)
    rows = []
    for backup in wanted:
        try:
            await line.check()
            rows.append(await _load(api, backup, update, force, placement, told))
        except (JsctlError, OSError) as error:
            rows.append(_row(backup.stream, "failed", backup.state, str(error)))
    return rows


async def _load(
    api: Api,
    backup: files.Backup,
    update: bool,
    force: bool,
    placement: Mapping[str, object],
    told: files.Told | None,
) -> Row:
    name = backup.stream
    config = snapshot.without_mark(configs.without_reserved(backup.config))
    config = configs.lay(config, {flag: value for flag, value in placement.items() if value})
    existing = await streams.exists(api, name)
    if existing is not None and snapshot.mark_of(existing):
        if not force:
            raise JsctlError("an unfinished restore left it", "--force removes that first")
        await streams.delete(api, name)
        existing = None
    if existing is not None:
        if not update:
            raise JsctlError("it exists already", "--update-streams changes its configuration")
        return await _update(api, existing, config, backup)
    info, lost = await backups.load(api, backup, config, told=told)
    return _row(name, "restored", info["state"], "; ".join(backups.judged(name, config, lost)))


class _Line:
    """The connection, given up once it is lost for good: each stream would wait for it anew."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._lost = False

    async def check(self) -> None:
        """Wait for a lost connection. Raises Unreachable."""
        if self._lost:
            raise Unreachable("it was not tried: the connection is lost")
        try:
            await self._api.connection.reconnected()
        except Unreachable:
            self._lost = True
            raise


def clear(folder: Path) -> None:
    """Remove an account's backup from its folder. Raises BadInput when something else is in it."""
    obstacle(folder)
    for entry in list(folder.iterdir()):
        if entry.is_dir():
            files.clear(entry)
            entry.rmdir()
        else:
            entry.unlink()


async def _update(api: Api, existing: Json, config: Json, backup: files.Backup) -> Row:
    name = backup.stream
    live = configs.without_reserved(existing["config"])
    changed = live != config
    info = await streams.update(api, config) if changed else existing
    have = set(await consumers.names(api, name))
    added = []
    for wanted in backup.consumers:
        known = str(wanted.get("name") or wanted.get("durable_name") or "")
        if wanted.get("durable_name") and known not in have:
            await consumers.create(api, name, configs.without_reserved(wanted))
            added.append(known)
    remarks = [f"consumers added: {', '.join(added)}"] if added else []
    if not backup.manifest and int(backup.state.get("consumer_count", 0)):
        remarks.append("its consumers are only in the snapshot, and stay as they are")
    return _row(name, "updated" if changed or added else "unchanged", info["state"], "; ".join(remarks))


def _origins_first(found: Sequence[files.Backup]) -> list[files.Backup]:
    """A mirror that is there before its origin tries in vain, and waits longer from time to time."""
    by_name = {backup.stream: backup for backup in found}
    ordered: dict[str, files.Backup] = {}

    def place(backup: files.Backup, above: frozenset[str]) -> None:
        for origin in origins_of(backup.config):
            name = str(origin.get("name", ""))
            if name in by_name and name not in above and name not in ordered:
                place(by_name[name], above | {name})
        ordered.setdefault(backup.stream, backup)

    for backup in found:
        place(backup, frozenset({backup.stream}))
    return list(ordered.values())


async def _all(work: Iterable[Coroutine[Any, Any, Row]]) -> list[Row]:
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


def _failed(mark: Path) -> Mapping[str, str]:
    try:
        found = json.loads(mark.read_bytes()).get("failed") or {}
    except (OSError, ValueError, AttributeError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(path: Path, content: Json) -> None:
    write_atomically(path, json.dumps(content, indent=2) + "\n", mode=None)


def _row(name: str, status: str, state: Json | None = None, remark: str = "") -> Row:
    size = {key: int((state or {}).get(key, 0)) for key in ("messages", "bytes")}
    return {"stream": name, **size, "status": status, "remark": remark}
