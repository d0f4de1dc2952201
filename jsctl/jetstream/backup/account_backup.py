"""Backing up all streams of an account (see `account_files` for the files)."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from jsctl.base.files import sync_folder
from jsctl.base.loops import gather
from jsctl.errors import JsctlError, NotFound
from jsctl.jetstream import api_levels
from jsctl.jetstream.api import Api
from jsctl.jetstream.backup.account_files import (
    UNFINISHED,
    AccountResult,
    SharedConnection,
    StreamOutcome,
    build_outcome,
    check_encrypted,
    describe_existing,
    write_unfinished,
)
from jsctl.jetstream.backup.events import (
    AccountBackupStarted,
    Advance,
    Observer,
    Phase,
    ReplaceBackup,
)
from jsctl.jetstream.backup.stream_backup import BackupOptions, save_stream
from jsctl.jetstream.backup.target import BackupTarget, lock_target, remove_path
from jsctl.jetstream.stream import requests as streams

_CONCURRENT = 4
"""Streams that are backed up at the same time."""


async def backup_account(
    api: Api, target: Path, options: BackupOptions, observer: Observer, *, strict: bool
) -> AccountResult:
    """Back up all streams of an account to a folder; a stream that fails does not stop the others.

    strict: warnings count as failures.

    The observer is asked before another backup is replaced. Raises BadInput for a target that holds other
    files, NotFound for an account without streams, Cancelled, OSError for a target that cannot be written.
    """
    check_encrypted(target, options.recipients)
    names, size = await measure_account(api)
    observer.notify(AccountBackupStarted(len(names), size, target))
    with lock_target(target) as locked:
        if existing := describe_existing(target):
            unfinished = (target / UNFINISHED).exists()
            if not unfinished:
                locked.check_replaceable(existing)
            await observer.confirm(ReplaceBackup(target, existing))
            if unfinished and locked.in_place:
                for entry in list(target.iterdir()):
                    remove_path(entry)
        started = time.monotonic_ns()
        with observer.progress(Phase("transfer"), size) as advance:
            outcomes = await _save_streams(api, locked, names, options, advance, observer)
    if strict:
        outcomes = [
            outcome._replace(status="failed") if outcome.status == "warning" else outcome
            for outcome in outcomes
        ]
    return AccountResult(outcomes, time.monotonic_ns() - started)


async def measure_account(api: Api) -> tuple[list[str], int]:
    """Return the names of the streams to back up, and their total size in bytes. Raises NotFound for an
    account without streams."""
    names = sorted(await streams.list_names(api))
    if not names:
        raise NotFound("there are no streams to back up")
    account = await api_levels.fetch_account_info(api)
    return names, int(account.get("memory", 0)) + int(account.get("storage", 0))


async def _save_streams(
    api: Api,
    target: BackupTarget,
    names: Sequence[str],
    options: BackupOptions,
    advance: Advance,
    observer: Observer,
) -> list[StreamOutcome]:
    """Back up these streams, some of them at the same time.

    An older backup at the target stays until the new one is complete. If a stream failed, the new backup is
    left beside the older one, as TARGET.partial.
    """
    folder = target.make_path()
    try:
        folder.mkdir()
        write_unfinished(folder, len(names))
        outcomes = await _save_to(api, folder, target.path, names, options, advance, observer)
        if failed := {outcome.stream: outcome.remark for outcome in outcomes if outcome.status == "failed"}:
            write_unfinished(folder, len(names), failed)
            if not describe_existing(target.path):
                target.put(folder)
            elif describe_existing(partial := target.path.with_name(target.path.name + ".partial")):
                with lock_target(partial) as other:
                    other.put(folder)
            else:
                folder.rename(partial)
            return outcomes
        if target.in_place:  # until all streams are there
            (folder / UNFINISHED).rename(target.path / UNFINISHED)
            target.put(folder)
            (target.path / UNFINISHED).unlink()
        else:
            (folder / UNFINISHED).unlink()
            sync_folder(folder)
            describe_existing(target.path)  # something else may have been put there
            target.put(folder)
        return outcomes
    finally:
        with suppress(OSError):
            remove_path(folder)


async def _save_to(
    api: Api,
    folder: Path,
    target: Path,
    names: Sequence[str],
    options: BackupOptions,
    advance: Advance,
    observer: Observer,
) -> list[StreamOutcome]:
    slots = asyncio.Semaphore(_CONCURRENT)
    connection = SharedConnection(api.connection)

    async def save(name: str) -> StreamOutcome:
        async with slots:
            try:
                await connection.check()
                manifest = await save_stream(
                    api,
                    name,
                    folder / name,
                    options,
                    observer,
                    on_start=lambda state: advance,
                    extra={"account": {"streams": len(names)}},
                    target=target / name,
                )
            except (JsctlError, OSError) as error:
                return build_outcome(name, "failed", remark=str(error))
            if options.consumers and "consumers" not in manifest:
                remark = "its consumers could not be listed; the snapshot has them"
                return build_outcome(name, "warning", manifest["state"], remark)
            return build_outcome(name, "saved", manifest["state"])

    return await gather(save(name) for name in names)
