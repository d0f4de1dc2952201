"""Getting an object: its chunks in order, read ahead, with their digest."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from jsctl.errors import ApiError, JsctlError, Unreachable
from jsctl.jetstream.api import Api
from jsctl.jetstream.message import browse
from jsctl.jetstream.object import buckets, requests
from jsctl.jetstream.object.model import ObjectInfo, chunk_subject, parse_digest, stream_name
from jsctl.units import SECOND

_BATCH_BYTES = 8 << 20
"""Bytes requested at once."""
_AHEAD = 4
"""Blocks that are read and not yet written."""
_BLOCK = 2 << 20
"""Bytes that are written at once."""
_PATIENCE = 6
"""A get gives up when nothing arrives for this many times the timeout."""
_PAUSE = 0.25

Write = Callable[[bytes], object]
"""Takes the next bytes; called beside the event loop."""


class DamagedObject(JsctlError):
    """The bytes in a bucket are not those that were put."""


async def read(
    api: Api,
    object_info: ObjectInfo,
    retried: Callable[[str], None] = lambda reason: None,
    write: Write = lambda data: None,
) -> AsyncGenerator[list[bytes], None]:
    """Yield the bytes of an object in blocks, each a list of chunks, and compare their digest at the end.

    retried: called with what went wrong before reading continues. write: called with each chunk before its
    block is yielded. Raises DamagedObject, JsctlError, and whatever `write` raises.
    """
    digest = hashlib.sha256()
    size = 0

    def take(block: list[bytes]) -> None:
        for part in block:
            digest.update(part)
            write(part)

    if object_info.chunks or object_info.size:
        reader = _Reader(api, object_info, retried)
        reading = asyncio.ensure_future(reader.run())
        try:
            while block := await reader.blocks.get():
                await asyncio.to_thread(take, block)
                size += sum(map(len, block))
                yield block
                if size > object_info.size:
                    break
        finally:
            reading.cancel()
            await asyncio.wait([reading])
        if reader.failure:
            raise reader.failure
    label = f"{object_info.bucket} > {object_info.name}"
    if size != object_info.size:
        await _check_is_current(api, object_info)
        raise DamagedObject(
            f"{label} is damaged: it has {size:,} bytes of {object_info.size:,}", "put it again"
        )
    if object_info.digest and parse_digest(object_info.digest) != digest.digest():
        await _check_is_current(api, object_info)
        raise DamagedObject(f"{label} is damaged: its SHA-256 differs", "put it again")


async def get(
    api: Api,
    object_info: ObjectInfo,
    write: Write,
    advance: Callable[[int], None] = lambda size: None,
    retried: Callable[[str], None] = lambda reason: None,
) -> None:
    """Write the bytes of an object, and compare their digest.

    advance: called with each number of bytes that were written. retried: as for `read`. Raises DamagedObject,
    JsctlError, and whatever `write` raises.
    """
    async with aclosing(read(api, object_info, retried, write)) as blocks:
        async for block in blocks:
            advance(sum(map(len, block)))


async def _check_is_current(api: Api, object_info: ObjectInfo) -> None:
    """Raise JsctlError when the object was replaced or deleted while it was read."""
    now = await requests.find(api, object_info.bucket, object_info.name)
    if now is None or now.nuid != object_info.nuid or now.is_deleted:
        raise JsctlError(
            f"{object_info.bucket} > {object_info.name} was replaced or removed meanwhile", "get it again"
        )


class _Reader:
    """Reads the chunks of an object ahead of their writing. blocks: what was read,
    an empty one is the end."""

    def __init__(self, api: Api, object_info: ObjectInfo, retried: Callable[[str], None]) -> None:
        self._api = api
        self._object = object_info
        self._retried = retried
        self._position = 1
        self._left = object_info.chunks
        self.failure: Exception | None = None
        self.blocks: asyncio.Queue[list[bytes]] = asyncio.Queue(_AHEAD)

    async def run(self) -> None:
        """Read everything, or up to an error, which becomes `failure`."""
        try:
            await self._read_patiently()
        except Exception as error:
            self.failure = error
        await self.blocks.put([])

    async def _read_patiently(self) -> None:
        loop = asyncio.get_running_loop()
        patience = _PATIENCE * self._api.timeout / SECOND
        deadline, position = 0.0, -1
        while self._left > 0:
            try:
                await self._read()
                return
            except JsctlError as error:
                if not isinstance(error, Unreachable) and not (
                    isinstance(error, ApiError) and error.code in (500, 503)
                ):
                    raise
                if self._position != position:
                    position, deadline = self._position, loop.time() + patience
                    self._retried(error.message)
                if loop.time() > deadline:
                    raise
            await asyncio.sleep(_PAUSE)

    async def _read(self) -> None:
        object_info, api = self._object, self._api
        config = (await buckets.info(api, object_info.bucket))["config"]
        messages = browse.read(
            api,
            stream_name(object_info.bucket),
            start=self._position,
            subject=chunk_subject(object_info.bucket, object_info.nuid),
            bulk=bool(config.get("allow_direct")),
            batch=max(_BATCH_BYTES // max(object_info.chunk_size, 1), 1),
        )
        parts: list[bytes] = []
        size = 0
        async with aclosing(messages):
            async for message in messages:
                self._position = message.sequence + 1
                self._left -= 1
                parts.append(message.data)
                size += len(message.data)
                if size >= _BLOCK or self._left == 0:
                    await self.blocks.put(parts)
                    parts, size = [], 0
                if self._left == 0:
                    return
        if parts:
            await self.blocks.put(parts)
