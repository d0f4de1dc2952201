"""Backup and restore of one stream: between a server and what `backup_files` keeps."""

import asyncio
import time
from collections.abc import Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from jsctl import __version__
from jsctl.errors import ApiError, JsctlError
from jsctl.jetstream import api_levels
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.api_levels import ApiLevel
from jsctl.jetstream.backup import snapshot
from jsctl.jetstream.backup.files import Backup, Told, Writer
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.stream import requests as streams
from jsctl.units import MS, format_rfc3339

T = TypeVar("T")

_PIECE = 512 << 10
_OVERLAP = "(10065)"  #: in what the server says of a restore that another stream's subjects forbid


@dataclass(frozen=True, slots=True)
class Options:
    """How to back up. check: the server reads every message first. chunk, window: bytes, 0 for defaults."""

    consumers: bool = True
    check: bool = False
    chunk: int = 0
    window: int = 0


async def save(
    api: Api,
    stream: str,
    target: Path,
    options: Options,
    *,
    began: Callable[[Json], Told] | None = None,
    more: Json | None = None,
) -> Json:
    """Back up a stream; gives the manifest, which `backup_files` describes, with the `state`.

    began: told the stream's state when the first byte is about to come; what it gives back is told the bytes
    as they come, uncompressed. more: further keys for the manifest. Raises JsctlError, OSError; nothing of
    the backup is left then.
    """
    began_at = _now()
    chunk = options.chunk or snapshot.CHUNK
    async with snapshot.take(
        api,
        stream,
        consumers=options.consumers,
        check=options.check,
        chunk=chunk,
        window=options.window,
    ) as taken:
        about: Json = {
            "stream": stream,
            "tool": f"jsctl {__version__}",
            "server": api.connection.server_info.get("version", ""),
            "domain": api.domain,
            "started": began_at,
            **(more or {}),
        }
        writer = Writer(target, about)  # at once: in a thread it could be left behind when we are cancelled
        try:
            told = began(taken.state) if began else None
            count = 0
            async with aclosing(taken.chunks) as chunks:
                async for data in chunks:
                    before = writer.frames.unpacked
                    await _in_thread(writer.write, data)
                    count += 1
                    if told:
                        told(writer.frames.unpacked - before)
            saved = await _consumers(api, stream) if options.consumers else {}
            more_of_it = {"chunks": count, "finished": _now(), **saved}
            manifest = await _in_thread(writer.finish, taken.config, taken.state, more_of_it)
        except BaseException:
            writer.abandon()
            raise
    return {**manifest, "state": taken.state}


async def load(api: Api, backup: Backup, config: Json, *, told: Told | None = None) -> tuple[Json, list[str]]:
    """Make a stream of a backup that was verified; gives its info, and what it has not of the backup's
    state, a sentence each. told: the bytes of the file, as they are sent."""

    await streams.check_level(api, config)  # an older server would pass over what it does not know
    if config["name"] != backup.config["name"]:
        await api_levels.require(api, {ApiLevel.V2_15: ["a restore under another name"]})

    async def pieces() -> snapshot.Chunks:
        with backup.data() as file:
            while piece := await asyncio.to_thread(file.read, _PIECE):
                yield piece

    async with aclosing(pieces()) as chunks:
        try:
            info = await snapshot.give(api, config, backup.state, chunks, sent=told)
        except ApiError as error:
            if _OVERLAP not in error.description:
                raise
            hint = "jsctl stream restore --subjects gives it other subjects"
            raise ApiError(error.code, error.err_code, error.description, hint) from None
    return await snapshot.unmark(api, info), snapshot.losses(backup.state, info.get("state") or {})


def judged(name: str, config: Json, lost: list[str]) -> list[str]:
    """Warnings for what a restored stream has not, where its own configuration explains that.

    Raises JsctlError where nothing does.
    """
    if not lost:
        return []
    reasons = [
        key
        for key in ("max_age", "max_msgs", "max_bytes", "max_msgs_per_subject")
        if int(config.get(key) or 0) > 0
    ]
    if config.get("retention") == "interest":
        reasons.append("interest retention")
    if config.get("allow_msg_ttl"):
        reasons.append("message TTLs")
    differs = f"Stream {name} differs from the backup: {', '.join(lost)}"
    if not reasons:
        raise JsctlError(differs)
    return [f"{differs}; its limits ({', '.join(reasons)}) apply to restored messages, too"]


async def leftover(api: Api, stream: str) -> Json | None:
    """The info of a stream that a restore did not finish; None when there is none of that name.

    Raises JsctlError when there is another stream of that name.
    """
    found = await streams.exists(api, stream)
    if found is not None and not snapshot.mark_of(found):
        raise JsctlError(f"stream {stream} exists already", "restore under another name, or remove it first")
    return found


async def _consumers(api: Api, stream: str) -> Json:
    """Configurations for the manifest. The snapshot has them, too, but where only servers can read it."""
    with suppress(JsctlError):
        found = await consumers.listing(api, stream)
        return {"consumers": [info["config"] for info in found.infos if info.get("config")]}
    return {}


async def _in_thread(work: Callable[..., T], *args: Any) -> T:
    """Do something that waits for the disk elsewhere; when we are cancelled, it is over before we are."""
    task = asyncio.ensure_future(asyncio.to_thread(work, *args))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


def _now() -> str:
    return format_rfc3339(time.time_ns() // MS * MS)
