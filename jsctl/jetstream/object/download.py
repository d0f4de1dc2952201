"""Getting an object: its chunks in order, read ahead, with their digest.

Large objects come through a consumer: direct gets of 1 GiB cost the server a second more of processor time,
and the client waits for each batch. Objects of one batch, and chunks that the consumer leaves out, are read
with direct gets.
"""

import asyncio
import contextlib
import hashlib
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

from jsctl.base.units import SECOND
from jsctl.errors import ApiError, Denied, JsctlError, NoResponders, NotFound, Unreachable
from jsctl.jetstream.api import Api
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.message import browse, pull
from jsctl.jetstream.object import buckets, requests
from jsctl.jetstream.object.model import ObjectInfo, build_chunk_subject, build_stream_name, parse_digest
from jsctl.jetstream.waiting import ask_again
from jsctl.nats.message import Message

_BATCH_BYTES = 8 << 20
"""Bytes requested at once."""
_MAX_BLOCKS = 4
"""Maximum number of blocks that are read and not yet written."""
_BLOCK = 2 << 20
"""Bytes that are written at once."""
_TIMEOUTS = 6
"""A get gives up when nothing arrives for this many times the timeout."""
_INACTIVE_THRESHOLD = 60 * SECOND  #: how long the server keeps a consumer that nobody pulls from
_STOP_SECONDS = 1  #: seconds in which the server may learn that a consumer is not needed any more

Write = Callable[[list[bytes]], object]
"""Called in a thread with the next bytes of an object, as a list of chunks."""


class DamagedObject(JsctlError):
    """The bytes in a bucket are not those that were put."""


async def read(
    api: Api,
    object_info: ObjectInfo,
    on_retry: Callable[[str], None] = lambda reason: None,
    write: Write = lambda block: None,
) -> AsyncGenerator[list[bytes], None]:
    """Yield the bytes of an object in blocks, each a list of chunks, and compare their digest at the end.

    on_retry: called with the reason when reading was interrupted and continues. write: called with each block
    before it is yielded. Raises DamagedObject, JsctlError, and whatever `write` raises.
    """
    digest = hashlib.sha256()
    size = 0

    def write_block(block: list[bytes]) -> None:
        for chunk in block:
            digest.update(chunk)
        write(block)

    if object_info.chunks or object_info.size:
        reader = _Reader(api, object_info, on_retry)
        reading = asyncio.ensure_future(reader.run())
        try:
            while block := await reader.blocks.get():
                await asyncio.to_thread(write_block, block)
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
    on_retry: Callable[[str], None] = lambda reason: None,
) -> None:
    """Write the bytes of an object, and compare their digest.

    advance: called with the number of bytes written since the last call. on_retry: as for `read`. Raises
    DamagedObject, JsctlError, and whatever `write` raises.
    """
    async with aclosing(read(api, object_info, on_retry, write)) as blocks:
        async for block in blocks:
            advance(sum(map(len, block)))


async def _check_is_current(api: Api, object_info: ObjectInfo) -> None:
    """Raise JsctlError when the object was replaced or deleted while it was read."""
    current = await requests.find(api, object_info.bucket, object_info.name)
    if current is None or current.nuid != object_info.nuid or current.is_deleted:
        raise JsctlError(
            f"{object_info.bucket} > {object_info.name} was replaced or removed meanwhile", "get it again"
        )


class _Reader:
    """A reader of an object's chunks ahead of their writing. blocks: what was read; an empty one is the
    end."""

    def __init__(self, api: Api, object_info: ObjectInfo, on_retry: Callable[[str], None]) -> None:
        self._api = api
        self._object = object_info
        self._on_retry = on_retry
        self._position = 1
        self._remaining = object_info.chunks
        self._stream = build_stream_name(object_info.bucket)
        self._subject = build_chunk_subject(object_info.bucket, object_info.nuid)
        self._parts: list[bytes] = []  #: of the next block
        self._size = 0  #: bytes of these
        self.failure: Exception | None = None
        self.blocks: asyncio.Queue[list[bytes]] = asyncio.Queue(_MAX_BLOCKS)

    async def run(self) -> None:
        """Read everything; an error that ends it becomes `failure`."""
        try:
            await ask_again(
                self._api,
                lambda _: self._read(),
                self._on_retry,
                timeouts=_TIMEOUTS,
                count_done=lambda: self._position,
            )
        except Exception as error:
            self.failure = error
        await self.blocks.put([])

    async def _read(self) -> None:
        """Read what remains, if anything."""
        batch = max(_BATCH_BYTES // max(self._object.chunk_size, 1), 1)
        if self._remaining > batch:
            await self._pull(batch)
        if self._remaining:
            await self._read_directly(batch)
        await self._pass_block()

    async def _read_directly(self, batch: int) -> None:
        """Read the remaining chunks without a consumer; the stream's leader has all of them."""
        config = (await buckets.fetch_info(self._api, self._object.bucket))["config"]
        chunks = browse.read(
            self._api,
            self._stream,
            start=self._position,
            subject=self._subject,
            bulk=bool(config.get("allow_direct")),
            batch=batch,
        )
        async with aclosing(chunks):
            while self._remaining > 0 and (chunk := await anext(chunks, None)):
                await self._add_chunks([chunk])

    async def _pull(self, batch: int) -> None:
        """Read through a consumer as far as possible: a login may not be allowed to create one. Raises
        Unreachable when it falls silent."""
        config = {
            "deliver_policy": "by_start_sequence",
            "opt_start_seq": self._position,
            "filter_subject": self._subject,
            "ack_policy": "none",
            "inactive_threshold": _INACTIVE_THRESHOLD,
            "mem_storage": True,
            "num_replicas": 1,
        }
        try:
            info, _ = await consumers.create(self._api, self._stream, config)
        except (ApiError, Denied, NoResponders):
            return
        if not info.get("num_pending"):
            return
        name = str(info["name"])
        try:
            is_complete = await self._add_pages(
                pull.pull(self._api, self._stream, name, self._remaining, wait=self._api.timeout, batch=batch)
            )
        except Denied:
            return
        finally:
            with contextlib.suppress(JsctlError, TimeoutError):
                async with asyncio.timeout(_STOP_SECONDS):
                    await consumers.delete(self._api, self._stream, name)
        if self._remaining and not is_complete:
            raise Unreachable("the server sent no more chunks of the object")

    async def _add_pages(self, pulled: AsyncGenerator[list[Message], None]) -> bool:
        """Add the chunks that are pulled; return whether the consumer has no more. Raises Unreachable for a
        gap."""
        number, pending = 0, 1
        with contextlib.suppress(NotFound):  # it was removed, or sends nothing
            async with aclosing(pulled):
                async for page in pulled:
                    for chunk in page:
                        place, number = chunk.metadata, number + 1
                        if place is None or place.consumer_sequence != number:
                            raise Unreachable("chunks were lost on the way")
                        pending = place.pending
                    await self._add_chunks(page)
                    if not pending:
                        break
        return not pending

    async def _add_chunks(self, chunks: Sequence[Message]) -> None:
        """Add chunks; pass on each block that is complete."""
        for chunk in chunks:
            self._position = chunk.sequence + 1
            self._remaining -= 1
            self._parts.append(chunk.data)
            self._size += len(chunk.data)
            if self._size >= _BLOCK:
                await self._pass_block()

    async def _pass_block(self) -> None:
        if self._parts:
            parts, self._parts, self._size = self._parts, [], 0
            await self.blocks.put(parts)
