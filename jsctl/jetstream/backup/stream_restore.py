"""Restoring one stream from its backup."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import NamedTuple

from jsctl.errors import ApiError, JsctlError
from jsctl.jetstream import api_levels
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.api_levels import ApiLevel
from jsctl.jetstream.backup.events import (
    Advance,
    DigestMissing,
    Observer,
    Phase,
    RemoveUnfinished,
    RestoreStarted,
)
from jsctl.jetstream.backup.files import Backup
from jsctl.jetstream.backup.marks import get_mark, unmark_stream
from jsctl.jetstream.backup.snapshot import Chunks, compare_states, restore_snapshot
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.error_codes import ErrorCode

_READ_SIZE = 512 << 10
_LIMITS = ("max_age", "max_msgs", "max_bytes", "max_msgs_per_subject")


class StreamRestore(NamedTuple):
    """A stream that was restored.

    warnings: what the stream lacks of the backup, if its own limits explain that.
    """

    backup: Backup
    info: Json
    warnings: list[str]
    duration: int  #: ns, without the verification


async def restore_stream(
    connect: Callable[[], Awaitable[Api]], backup: Backup, config: Json, observer: Observer
) -> StreamRestore:
    """Verify a backup, and create a stream from it.

    connect: opens the API; only called for an intact backup. config: the new stream's, with its name. The
    observer is asked before the remains of an unfinished restore are removed. Raises BadInput for a damaged
    backup, JsctlError when the stream already exists or when the new one lacks messages without an
    explanation, Cancelled.
    """
    with observer.progress(Phase("verify", backup.stream), backup.size) as advance:
        await asyncio.to_thread(backup.verify, advance)
    if not backup.manifest:
        observer.notify(DigestMissing(backup.path))
    api = await connect()
    name = str(config["name"])
    await _remove_unfinished(api, name, observer)
    started = time.monotonic_ns()
    observer.notify(RestoreStarted(name, backup.stream, backup.path, backup.size))
    with observer.progress(Phase("transfer", name), backup.size) as advance:
        info, differences = await load_stream(api, backup, config, advance=advance)
    warnings = explain_differences(name, config, differences)
    return StreamRestore(backup, info, warnings, time.monotonic_ns() - started)


async def load_stream(
    api: Api, backup: Backup, config: Json, *, advance: Advance | None = None
) -> tuple[Json, list[str]]:
    """Create a stream from a verified backup; return its info, and how its state differs from the backup's.

    advance: called with the number of bytes of the file that were sent.
    """
    await streams.check_level(api, config)  # an older server would ignore what it does not know
    if config["name"] != backup.config["name"]:
        await api_levels.require(api, {ApiLevel.V2_15: ["a restore under another name"]})

    async def read() -> Chunks:
        with backup.open_data() as file:
            while chunk := await asyncio.to_thread(file.read, _READ_SIZE):
                yield chunk

    async with aclosing(read()) as chunks:
        try:
            info = await restore_snapshot(api, config, backup.state, chunks, advance=advance)
        except ApiError as error:
            # A restore has no error code for this cause; the server's text contains it.
            if f"({ErrorCode.STREAM_SUBJECT_OVERLAP:d})" not in error.description:
                raise
            hint = "jsctl stream restore --subjects gives it other subjects"
            raise ApiError(error.code, error.err_code, error.description, hint) from None
    return await unmark_stream(api, info), compare_states(backup.state, info.get("state") or {})


def explain_differences(name: str, config: Json, differences: list[str]) -> list[str]:
    """Return warnings for what a stream lacks, if its own limits explain that.

    differences: from `compare_states`. Raises JsctlError when no limit explains them.
    """
    if not differences:
        return []
    reasons = [key for key in _LIMITS if int(config.get(key) or 0) > 0]
    if config.get("retention") == "interest":
        reasons.append("interest retention")
    if config.get("allow_msg_ttl"):
        reasons.append("message TTLs")
    text = f"Stream {name} differs from the backup: {', '.join(differences)}"
    if not reasons:
        raise JsctlError(text)
    return [f"{text}; its limits ({', '.join(reasons)}) apply to restored messages, too"]


async def _remove_unfinished(api: Api, name: str, observer: Observer) -> None:
    """Remove a stream that an earlier restore did not finish, if the user agrees.

    Raises JsctlError when there is another stream of that name, Cancelled.
    """
    info = await streams.fetch_info_or_none(api, name)
    if info is None:
        return
    if not get_mark(info):
        raise JsctlError(f"stream {name} already exists", "restore under another name, or remove it first")
    await observer.confirm(RemoveUnfinished(name, int(info["state"]["messages"])))
    await streams.delete(api, name)
