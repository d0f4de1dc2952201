"""Putting an object: chunks are sent within a window of acknowledgements, again when lost, and interrupted
puts continue.

Each chunk has a header with its number and checksum, which other clients ignore. With these, the chunks of an
interrupted put are compared with the file without reading them back. The nuid of a file's put is computed
from the file and the object that it replaces, so that the same command finds the chunks that it had sent.
"""

import asyncio
import hashlib
import itertools
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from jsctl.base.units import pluralize
from jsctl.errors import ApiError, BadInput, JsctlError, Unreachable
from jsctl.jetstream.api import Api, Json, is_no_message
from jsctl.jetstream.message.publish import PublishTotals
from jsctl.jetstream.message.publish_acked import publish_with_acks
from jsctl.jetstream.object import buckets, requests
from jsctl.jetstream.object.blocks import BlockReader, Chunk, Readable
from jsctl.jetstream.object.model import (
    CHUNK_SIZE,
    ObjectInfo,
    build_chunk_subject,
    build_stream_name,
    format_digest,
    validate_object_name,
)
from jsctl.jetstream.stream import requests as streams
from jsctl.jetstream.waiting import ask_again
from jsctl.nats.error_codes import ErrorCode
from jsctl.nats.headers import VERSION, find_header
from jsctl.nats.message import Message, OutgoingMessage
from jsctl.nats.templates import generate_id

MARK = "Jsctl-Chunk"
"""The header of a chunk: its number, and its CRC-32C in hexadecimal digits."""

_MARKED = b"%b\r\n%b: %%d %%08x\r\n\r\n" % (VERSION, MARK.encode())  #: the header block

WINDOW = 16 << 20
"""Maximum number of bytes on their way without an ack."""

_TIMEOUTS = 6
"""A put gives up when nothing is stored for this many times the timeout."""

_PURGES = 20
_HEADER_SIZE = 128  #: maximum number of bytes of a chunk's headers


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a put. identity: identifies this file in this state; empty for a source that cannot be
    read again, such as stdin. stop: ends a waiting read."""

    file: Readable
    identity: str = ""
    stop: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True)
class PutOptions:
    """Options of a put. chunk_size: bytes."""

    description: str = ""
    headers: dict[str, list[str]] = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict)
    chunk_size: int = CHUNK_SIZE


class PutObserver:
    """Callbacks of a put; all do nothing by default."""

    def advance(self, size: int) -> None:
        """Handle progress: another `size` bytes are stored."""

    def on_resume(self, size: int) -> None:
        """Handle the continuation of an interrupted put after `size` bytes."""

    def on_retry(self, reason: str) -> None:
        """Handle the loss of some chunks, which are sent again."""


class _Stored(NamedTuple):
    """A chunk that a bucket has. number: -1 if it has no valid header."""

    sequence: int
    number: int
    checksum: int
    size: int


async def put(
    api: Api, bucket: str, name: str, source: Source, options: PutOptions, observer: PutObserver
) -> ObjectInfo:
    """Store an object; return it as it is stored.

    The chunks that were sent before a temporary failure, or before the process was killed, stay for the next
    put of the same file; after a refusal they are removed. Raises MissingName, BadInput, JsctlError, OSError
    of the file.
    """
    validate_object_name(name)
    config = (await buckets.fetch_info(api, bucket))["config"]
    _check_bucket(api, bucket, config, options.chunk_size)
    replaced = await requests.find(api, bucket, name)
    nuid = _compute_nuid(api, bucket, name, source, options, replaced) if source.identity else generate_id()
    reader = BlockReader(source.file, options.chunk_size, may_wait=not source.identity)
    upload = _Upload(api, bucket, nuid, reader, observer)
    try:
        await upload.run(resume=bool(source.identity))
    except BaseException as error:
        if not source.identity or (isinstance(error, JsctlError) and not _is_temporary(error)):
            await asyncio.shield(_remove_chunks(api, bucket, nuid))
        raise
    finally:
        source.stop()
        await reader.close()
    info = ObjectInfo(
        bucket=bucket,
        name=name,
        nuid=nuid,
        size=reader.size,
        chunks=reader.chunks,
        digest=format_digest(reader.digest),
        modified="",
        description=options.description,
        headers=options.headers,
        metadata=options.metadata,
        chunk_size=options.chunk_size,
    )
    return await requests.put_info(api, info, replaced)


def _check_bucket(api: Api, bucket: str, config: Json, chunk_size: int) -> None:
    if config.get("sealed"):
        raise JsctlError(f"bucket {bucket} is sealed", "nothing can be put into it any more")
    if config.get("mirror"):
        raise JsctlError(f"bucket {bucket} is a mirror", "put into the bucket that it mirrors")
    limit = api.connection.max_payload
    if 0 < config.get("max_msg_size", -1) < limit:
        limit = config["max_msg_size"]
    if not 0 < chunk_size <= limit - _HEADER_SIZE:
        raise BadInput(
            f"chunks of {pluralize(chunk_size, 'byte')} are not possible",
            f"--chunk-size takes 1 to {limit - _HEADER_SIZE:,} here",
        )


def _compute_nuid(
    api: Api, bucket: str, name: str, source: Source, options: PutOptions, replaced: ObjectInfo | None
) -> str:
    """Return the nuid for putting a file: a different one after each completed put."""
    replaced_id = f"{replaced.nuid} {replaced.sequence}" if replaced else ""
    parts = (api.prefix, bucket, name, source.identity, str(options.chunk_size), replaced_id)
    number = int.from_bytes(hashlib.sha256("\0".join(parts).encode()).digest())
    letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    return "".join(letters[number // 62**at % 62] for at in range(22))


async def _remove_chunks(api: Api, bucket: str, nuid: str) -> None:
    try:
        await api.connection.flush()
        for _ in range(_PURGES):
            await requests.remove_chunks(api, bucket, nuid)
            # The server may still have chunks that it has not stored yet.
            await asyncio.sleep(0.125)
            if not await buckets.count_chunks(api, bucket, build_chunk_subject(bucket, nuid)):
                return
    except JsctlError:
        return  # the earlier error says more


class _Upload:
    """The upload of one object's chunks."""

    def __init__(self, api: Api, bucket: str, nuid: str, reader: BlockReader, observer: PutObserver) -> None:
        self._api = api
        self._bucket = bucket
        self._stream = build_stream_name(bucket)
        self._subject = build_chunk_subject(bucket, nuid)
        self._reader = reader
        self._observer = observer
        self._nuid = nuid
        self._earlier: deque[_Stored] = deque()  #: of an interrupted put, not yet compared with the file
        self._waiting: dict[int, Chunk] = {}  #: sent chunks without an ack, by number
        self._unsent: deque[Chunk] = deque()
        self._acks: dict[int, int] = {}  #: sequences of chunks acknowledged before earlier ones, by number
        self._last = 0  #: sequence of the last chunk that was acknowledged together with all before it

    async def run(self, *, resume: bool) -> None:
        """Send everything. Raises JsctlError."""
        if resume:
            await self._find_earlier()
        tries = itertools.count()

        async def send(_: Api) -> None:
            if next(tries):
                await self._recover()
            await self._send()

        await ask_again(
            self._api,
            send,
            self._observer.on_retry,
            timeouts=_TIMEOUTS,
            count_done=lambda: self._last,
            is_temporary=_is_temporary,
        )
        await self._verify()

    async def _verify(self) -> None:
        """Verify that the bucket has each chunk once; remove duplicates, which are late chunks that were also
        sent again."""
        if await buckets.count_chunks(self._api, self._bucket, self._subject) == self._reader.chunks:
            return
        count, surplus = 0, list[int]()
        for stored in await self._list_stored(1):
            if stored.number == count:
                count += 1
            else:
                surplus.append(stored.sequence)
        if count != self._reader.chunks:
            raise JsctlError(
                f"bucket {self._bucket} has {count:,} of {self._reader.chunks:,} chunks in order",
                "put it again",
            )
        await self._delete(surplus)

    async def _send(self) -> None:
        await publish_with_acks(
            self._api.connection,
            self._build_bursts(),
            PublishTotals(),
            self._handle_ack,
            window=WINDOW,
            is_alone=True,
        )

    async def _build_bursts(self) -> AsyncIterator[Sequence[OutgoingMessage]]:
        """Yield the chunks that have no ack yet, then the next ones of the file."""
        for chunk in list(self._waiting.values()):
            yield [self._build_message(chunk)]
        while self._unsent or await self._read():
            while self._earlier and self._unsent and await self._is_there(self._unsent[0]):
                self._reader.release(self._unsent.popleft())
            unsent = list(self._unsent)
            self._unsent.clear()
            self._waiting.update((chunk.number, chunk) for chunk in unsent)
            yield [self._build_message(chunk) for chunk in unsent]
        await self._delete_earlier()  # of a longer file

    async def _read(self) -> bool:
        """Read the next chunks of the file; return whether there are any."""
        self._unsent.extend(await self._reader.read())
        return bool(self._unsent)

    def _build_message(self, chunk: Chunk) -> OutgoingMessage:
        block = _MARKED % (chunk.number, chunk.checksum)
        return OutgoingMessage(self._subject, chunk.data, header_block=block)

    def _handle_ack(self, message: OutgoingMessage, ack: Json | None) -> None:
        number = next(iter(self._waiting), -1)
        if number < 0 or self._waiting[number].data is not message.data:  # not the one that is awaited
            number = int(find_header(message.header_block, MARK).split()[0])
        self._acks[number] = int((ack or {}).get("seq", 0))
        while (first := next(iter(self._waiting), -1)) in self._acks:
            self._last = self._acks.pop(first)
            chunk = self._waiting.pop(first)
            self._observer.advance(len(chunk.data))
            self._reader.release(chunk)

    # -- chunks of an earlier put -----------------------------------------------------------------------

    async def _find_earlier(self) -> None:
        """Find the chunks that an interrupted put of the same file left."""
        if not await buckets.count_chunks(self._api, self._bucket, self._subject):
            return
        stored = await self._list_stored(1)
        intact = [chunk for at, chunk in enumerate(stored) if chunk.number == at]
        if len(intact) == len(stored) or (intact and intact == stored[: len(intact)]):
            await self._delete([chunk.sequence for chunk in stored[len(intact) :]])
            self._earlier.extend(intact)
        else:
            await requests.remove_chunks(self._api, self._bucket, self._nuid)
        if self._earlier:
            self._observer.on_resume(sum(chunk.size for chunk in self._earlier))

    async def _is_there(self, chunk: Chunk) -> bool:
        """Return whether an interrupted put stored a chunk. At the first one that differs, remove its other
        chunks."""
        if not self._earlier:
            return False
        stored = self._earlier[0]
        if (stored.checksum, stored.size) == (chunk.checksum, len(chunk.data)):
            self._earlier.popleft()
            self._last = stored.sequence
            self._observer.advance(stored.size)
            return True
        await self._delete_earlier()
        return False

    async def _delete_earlier(self) -> None:
        await self._delete([chunk.sequence for chunk in self._earlier])
        self._earlier.clear()

    async def _recover(self) -> None:
        """Find which of the chunks without an ack are stored in order, and remove the others."""
        await self._api.connection.wait_until_connected()
        self._acks.clear()
        surplus: list[int] = []
        for entry in await self._list_stored(self._last + 1):
            chunk = self._waiting.get(entry.number)
            if chunk and entry.number == next(iter(self._waiting)) and entry.checksum == chunk.checksum:
                self._reader.release(self._waiting.pop(entry.number))
                self._last = entry.sequence
                self._observer.advance(entry.size)
            else:
                surplus.append(entry.sequence)
        await self._delete(surplus)

    async def _list_stored(self, start: int) -> list[_Stored]:
        """List the chunks beginning at a sequence, without their data."""
        from jsctl.jetstream.message.feed import ConsumerFeed
        from jsctl.jetstream.message.receive_options import ReceiveOptions, StreamSource

        stored: list[_Stored] = []

        def take(messages: Sequence[Message]) -> int:
            for message in messages:
                number, _, checksum = find_header(message.header_block, MARK).partition(" ")
                size = find_header(message.header_block, "Nats-Msg-Size")
                is_marked = number.isdigit() and len(checksum) == 8 and size.isdigit()
                values = (int(number), int(checksum, 16), int(size)) if is_marked else (-1, -1, -1)
                stored.append(_Stored(message.sequence, *values))
            return len(messages)

        policy = {"deliver_policy": "by_start_sequence", "opt_start_seq": start}
        source = StreamSource(self._stream, policy, headers_only=True, to_end=True)
        options = ReceiveOptions(subjects=[self._subject], stream=source)
        await ConsumerFeed(self._api, options, take, self._api.warn).run()
        return stored

    async def _delete(self, sequences: Sequence[int]) -> None:
        for sequence in sequences:
            try:
                await streams.delete_message(self._api, self._stream, sequence, erase=False)
            except ApiError as error:
                if not is_no_message(error):  # it is gone already
                    raise


def _is_temporary(error: JsctlError) -> bool:
    """Return whether an error may be temporary, so that another attempt is worthwhile."""
    if isinstance(error, ApiError):
        if error.err_code in (ErrorCode.STREAM_STORE_FAILED, ErrorCode.STORAGE_RESOURCES_EXCEEDED):
            return False  # the bucket is full
        return error.code in (429, 500, 503)
    return isinstance(error, Unreachable)
