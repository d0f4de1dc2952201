"""Backing up one stream."""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, aclosing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from jsctl import __version__
from jsctl.base.loops import run_in_thread
from jsctl.base.units import MS, format_rfc3339
from jsctl.errors import BadInput, JsctlError
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.backup import files
from jsctl.jetstream.backup.encryption import NO_KEYS, KeyMissing, Keys
from jsctl.jetstream.backup.events import (
    Advance,
    BackupStarted,
    Observer,
    Phase,
    ReplaceBackup,
    ServerCheckStarted,
)
from jsctl.jetstream.backup.link_writer import LinkWriter, check_parent
from jsctl.jetstream.backup.prune import find_links
from jsctl.jetstream.backup.snapshot import CHUNK_SIZE, request_snapshot
from jsctl.jetstream.backup.target import lock_target, remove_path
from jsctl.jetstream.backup.writer import BackupWriter, put_backup
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.stream import requests as streams


@dataclass(frozen=True, slots=True)
class BackupOptions:
    """Options of a stream's backup.

    check: let the server read every message first. chunk_size, window_size: bytes, 0 or less for
    defaults. recipients: public keys of age for which it is encrypted; none for a backup in clear.
    """

    consumers: bool = True
    check: bool = False
    chunk_size: int = 0
    window_size: int = 0
    recipients: tuple[str, ...] = ()


class StreamBackup(NamedTuple):
    """A finished backup. manifest: as `files` describes it, with the stream's `state`."""

    stream: str
    target: Path
    manifest: Json
    duration: int  #: ns


async def backup_stream(
    api: Api,
    stream: str,
    target: Path,
    options: BackupOptions,
    observer: Observer,
    parent: files.Backup | None = None,
    keys: Keys = NO_KEYS,
) -> StreamBackup:
    """Back up a stream to a folder or .tgz file. parent: an earlier backup, of which it becomes a link. keys:
    of an encrypted one that is replaced.

    The observer is asked before an older backup of the stream is replaced, which stays until the new one is
    complete. Raises BadInput for a target that holds another stream's backup or other files, and for a
    parent that is none, Cancelled, ApiError, JsctlError, OSError; nothing of the new backup is left then.
    """
    files.describe_existing(target)
    info = await streams.fetch_info(api, stream)
    if parent:
        await check_parent(api, parent, info, target, options.recipients)
    with lock_target(target) as locked:
        existing = files.describe_existing(target)
        if existing == files.UNFINISHED:
            files.remove_backup_files(target)  # it cannot be restored, and nobody is writing to it
        elif existing:
            locked.check_replaceable(existing)
            check_replaced(target, stream, options.recipients, keys)
            await observer.confirm(ReplaceBackup(target, existing))
        started = time.monotonic_ns()
        with ExitStack() as phases:

            def on_start(state: Json) -> Advance:
                size = int(state.get("bytes", 0))
                return phases.enter_context(observer.progress(Phase("transfer", stream), size))

            if options.check:
                observer.notify(ServerCheckStarted(stream))
            folder = locked.make_path()
            try:
                manifest = await save_stream(
                    api,
                    stream,
                    folder,
                    options,
                    observer,
                    on_start=on_start,
                    target=target,
                    parent=parent,
                )
                await run_in_thread(put_backup, folder, locked)
            finally:
                with suppress(OSError):
                    remove_path(folder)
        return StreamBackup(stream, target, manifest, time.monotonic_ns() - started)


def check_replaced(target: Path, stream: str, recipients: Sequence[str], keys: Keys) -> None:
    """Raise BadInput unless a target holds a complete backup of this stream that no link beside it needs, and
    that is not encrypted if the new one is not."""
    try:
        backup = files.open_backup(target, keys=keys)
    except KeyMissing:
        raise
    except JsctlError as error:
        raise BadInput(error.message, "remove it, or choose another target") from None
    if backup.is_encrypted and not recipients:
        raise BadInput(
            f"the backup in {target} is encrypted, and the new one would not be", "add --encrypt-to"
        )
    if backup.stream != stream:
        raise BadInput(
            f"{target} holds a backup of stream {backup.stream}", "remove it, or choose another target"
        )
    if links := find_links(backup, keys):
        raise BadInput(
            f"{links[0]} is a link that needs the backup in {target}",
            "choose another target, or remove the link first",
        )


async def save_stream(
    api: Api,
    stream: str,
    folder: Path,
    options: BackupOptions,
    observer: Observer,
    *,
    on_start: Callable[[Json], Advance],
    target: Path,
    extra: Json | None = None,
    parent: files.Backup | None = None,
) -> Json:
    """Write a stream's snapshot to a folder that does not exist; return the manifest with the stream's
    `state`.

    on_start: called with the stream's state when the first byte is about to arrive; the function that it
    returns is called with the number of bytes that arrive, before compression. target: the path that errors
    name instead of the folder. extra: further keys of the manifest. parent: that of a link.
    Raises JsctlError, OSError; nothing of the backup is left then.
    """
    started, created = _format_now(), (await streams.fetch_info(api, stream))["created"]
    async with request_snapshot(
        api,
        stream,
        consumers=options.consumers,
        check=options.check,
        chunk_size=options.chunk_size if options.chunk_size > 0 else CHUNK_SIZE,
        window_size=options.window_size,
    ) as snapshot:
        description: Json = {
            "stream": stream,
            "tool": f"jsctl {__version__}",
            "server": api.connection.server_info.get("version", ""),
            "domain": api.domain,
            "started": started,
            "created": created,
            **(extra or {}),
        }
        # Not in a thread, where a cancellation could leave its files behind.
        writer = (
            LinkWriter(folder, description, target, options.recipients, parent)
            if parent
            else BackupWriter(folder, description, target, options.recipients)
        )
        try:
            state = snapshot.state
            observer.notify(BackupStarted(stream, int(state.get("messages", 0)), int(state.get("bytes", 0))))
            advance = on_start(state)
            chunk_count = 0
            async with aclosing(snapshot.chunks) as chunks:
                async for chunk in chunks:
                    unpacked_before = writer.scanner.unpacked
                    await run_in_thread(writer.write, chunk)
                    chunk_count += 1
                    advance(writer.scanner.unpacked - unpacked_before)
            if (await streams.fetch_info(api, stream))["created"] != created:
                raise JsctlError(f"stream {stream} was made anew during its backup", "back it up again")
            saved_consumers = await _fetch_consumer_configs(api, stream) if options.consumers else {}
            outcome = {"chunks": chunk_count, "finished": _format_now(), **saved_consumers}
            manifest = await run_in_thread(writer.finish, snapshot.config, state, outcome)
        except BaseException:
            writer.abandon()
            raise
    return {**manifest, "state": {**state, **manifest.get("chain", {})}}


async def _fetch_consumer_configs(api: Api, stream: str) -> Json:
    """Fetch the consumers' configurations for the manifest: in the snapshot only servers can read them.

    Empty when they cannot be listed.
    """
    with suppress(JsctlError):
        listing = await consumers.list_consumers(api, stream)
        return {"consumers": [info["config"] for info in listing.infos if info.get("config")]}
    return {}


def _format_now() -> str:
    return format_rfc3339(time.time_ns() // MS * MS)
