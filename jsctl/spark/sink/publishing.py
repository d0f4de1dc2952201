"""Publishing of rows to a stream from a Spark task: message ids, acks in flight, and retries.

Every message has a `Nats-Msg-Id`, so that a stream drops messages that are published again: by a task that
Spark repeats, by a batch that a streaming query repeats after a restart, or after the acks of a burst were
lost. The id is the row's `msg_id`. Without one, it is computed from the write's id and

1. the message that the row comes from, if the rows have its `stream` and `sequence`: the same at every
   attempt, however Spark splits the rows. Equal rows of one message are distinguished by their number
   within a partition.
2. otherwise the `Nats-Msg-Id` in its headers, which is used as it is.
3. otherwise the row, the number of equal rows before it in the partition, and the partition's number: the
   same as long as Spark splits the rows in the same way. When a batch is repeated with another number of
   partitions, these rows are stored twice, and the sink warns of that. Nothing else distinguishes equal rows.

None of them depends on the order of the rows, which differs between attempts after a shuffle. Counting equal
rows takes about 100 bytes of memory for each row; rows with ids of their own are not counted.

Every message names its stream in `Nats-Expected-Stream`: that of the option, also instead of a row's own, or
else the one that stored its subject when the task began. The server refuses what another stream would store.

Rows as in 1. are copies; Nats-Msg-Id and the headers of `message.republishing` are left out.

Entries of a bucket are messages, too: their `bucket` and `revision` are what `stream` and `sequence` are for
others.

The stream remembers ids for its duplicate window (2 minutes by default). Messages that are repeated later are
stored twice.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from jsctl.base import loops
from jsctl.base.units import format_exact_duration
from jsctl.contexts.settings import Settings
from jsctl.errors import (
    ApiError,
    BadInput,
    Denied,
    JsctlError,
    NoResponders,
    NotFound,
    RequestTimeout,
    Unreachable,
)
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.kv.bucket import build_missing_error
from jsctl.jetstream.message.publish import PublishTotals
from jsctl.jetstream.message.publish_acked import publish_with_acks
from jsctl.jetstream.message.republishing import DROPPED, MESSAGE_ID, drop_headers
from jsctl.nats.connection import Connection
from jsctl.nats.error_codes import ErrorCode
from jsctl.nats.headers import encode_headers
from jsctl.nats.message import OutgoingMessage
from jsctl.nats.subjects import validate_subject
from jsctl.spark.sink.bucket_rows import list_bucket_rows
from jsctl.spark.sink.expected_streams import HEADER, ExpectedStreams, fetch_writable_info
from jsctl.spark.sink.rights import check_may_publish
from jsctl.spark.sink.row import Row, list_batch_rows

if TYPE_CHECKING:
    import pyarrow as pa

BURST = 2048
"""Number of messages after which all acks are awaited. At most one burst is published again after a
failure."""

Pairs = list[tuple[str, bytes]]

_INSTRUCTIONS = (MESSAGE_ID, *DROPPED)


@dataclass(frozen=True, slots=True)
class WriteJob:
    """The target of rows.

    stream: the only one that may store the messages; empty for any. subject: for rows without one. write_id:
    identifies this write in message ids. retries: maximum number of attempts without progress. bucket: whose
    stream it is, if rows are its entries.
    """

    settings: Settings
    stream: str = ""
    subject: str = ""
    write_id: str = ""
    retries: int = 5
    bucket: str = ""


class Counts(NamedTuple):
    """The numbers of messages that a task published. duplicates: those that the stream already had. bytes: of
    payload."""

    published: int = 0
    duplicates: int = 0
    bytes: int = 0


def check_stream(job: WriteJob, subject: str = "") -> list[str]:
    """Return warnings about this write, one sentence each. subject: of all messages, empty when each row has
    its own.

    Raises NotFound when the stream does not exist, BadInput when it accepts no messages, Denied without the
    permission to look it up or to publish to the subject, and what a connection raises.
    """
    return loops.run_in_loop(_check_stream(job, subject))


async def _check_stream(job: WriteJob, subject: str) -> list[str]:
    connection = await Connection.open(job.settings, reconnect=False)
    try:
        if subject:
            await check_may_publish(connection, subject)
        config = await _fetch_stream_config(_create_api(connection, job), job)
    finally:
        await connection.close()
    return [warning] if config and (warning := _format_window_warning(config, job)) else []


async def _fetch_stream_config(api: Api, job: WriteJob) -> Json:
    """Return the configuration of the stream that stores the messages, empty if it is unknown."""
    if not job.stream:
        with contextlib.suppress(ApiError, Denied, NoResponders, RequestTimeout):  # only a warning needs it
            names = (
                (await api.call("STREAM.NAMES", {"subject": job.subject}))["streams"] if job.subject else []
            )
            return dict((await api.call(f"STREAM.INFO.{names[0]}"))["config"]) if names else {}
        return {}
    try:
        return dict((await fetch_writable_info(api, job.stream, "write to its origin"))["config"])
    except NotFound:
        if job.bucket:
            raise build_missing_error(api, job.bucket) from None
        raise


def _format_window_warning(config: Json, job: WriteJob) -> str:
    """Return a warning if a stream may forget ids before the last attempt to publish a burst; empty
    otherwise."""
    window, needed = int(config.get("duplicate_window") or 0), job.settings.timeout * (job.retries + 1)
    if window >= needed:
        return ""
    span = f"only {format_exact_duration(window)}" if window else "off"
    return (
        f"the duplicate window of {config['name']} is {span}: what a failed task or batch repeats may be"
        f" stored twice; {format_exact_duration(needed)} covers the retries of this write"
    )


def publish(job: WriteJob, partition: int, rows: Iterable[Row]) -> Counts:
    """Publish all rows in order.

    Raises BadInput for a row that cannot be a message, Unreachable, ApiError.
    """
    return loops.run_in_loop(_publish(job, build_message_bursts(job, partition, rows)))


async def _publish(job: WriteJob, bursts: Iterable[Sequence[OutgoingMessage]]) -> Counts:
    publisher = _BurstPublisher(job)
    try:
        for burst in bursts:
            await publisher.send(burst)
    finally:
        await publisher.close()
    return Counts(publisher.published, publisher.duplicates, publisher.bytes)


def list_rows(job: WriteJob, batches: "Iterable[pa.RecordBatch]") -> Iterator[Row]:
    """Yield the rows of Arrow batches. Raises BadInput for a row that is not an entry of the bucket."""
    return list_bucket_rows(job.settings, job.bucket, batches) if job.bucket else list_batch_rows(batches)


def build_message_bursts(
    job: WriteJob, partition: int, rows: Iterable[Row]
) -> Iterator[Sequence[OutgoingMessage]]:
    """Yield rows as bursts of messages with ids."""
    ids = _MessageIds(job.write_id, partition)
    messages = (_build_message(job, ids, row) for row in rows)
    if job.bucket:
        yield from _cut_at_repeated_keys(messages)
        return
    while burst := list(islice(messages, BURST)):
        yield burst


def _cut_at_repeated_keys(messages: Iterable[OutgoingMessage]) -> Iterator[Sequence[OutgoingMessage]]:
    """Yield bursts in which each key is once: a message that is published again must not follow a later value
    of its key."""
    burst: dict[str, OutgoingMessage] = {}
    for message in messages:
        if message.subject in burst or len(burst) == BURST:
            yield list(burst.values())
            burst = {}
        burst[message.subject] = message
    if burst:
        yield list(burst.values())


def _build_message(job: WriteJob, ids: "_MessageIds", row: Row) -> OutgoingMessage:
    subject = validate_subject(row.subject if row.subject is not None else job.subject)
    payload = row.data.encode() if isinstance(row.data, str) else bytes(row.data or b"")
    pairs: Pairs = [_parse_pair(header) for header in row.headers or ()]
    origin = (row.stream, row.sequence) if row.stream and row.sequence is not None else None
    if origin:
        pairs = drop_headers(pairs, _INSTRUCTIONS)
    message_id = row.msg_id
    if not message_id:
        message_id = next((value.decode() for key, value in pairs if key.lower() == MESSAGE_ID.lower()), "")
    message_id = message_id or ids.make(subject, payload, [*pairs, *row.own_headers], origin)
    own = [(MESSAGE_ID, message_id.encode()), *row.own_headers]
    if job.stream:
        own.append((HEADER, job.stream.encode()))
    names = {key.lower() for key, _ in own}
    header_block = _encode_headers(
        [*((key, value) for key, value in pairs if key.lower() not in names), *own]
    )
    return OutgoingMessage(subject, payload, header_block=header_block)


def _parse_pair(header: Any) -> tuple[str, bytes]:
    """Return a header's key and value. Raises BadInput for one without a key.

    Schemas do not exclude it: nearly all of them, including the reader's, allow null.
    """
    if header is None or header["key"] is None:
        raise BadInput(
            "a row has a header that is null, or whose key is",
            "leave it out: filter(headers, h -> h.key IS NOT NULL) AS headers",
        )
    return header["key"], _to_bytes(header["value"])


def _to_bytes(value: bytes | bytearray | str | None) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value or b"")


def _encode_headers(pairs: Pairs) -> bytes:
    """Encode headers whose values are bytes that need not be UTF-8. Raises BadInput."""
    lines = []
    for key, value in pairs:
        encode_headers([(key, "")])  # validates the key
        if b"\r" in value or b"\n" in value:
            raise BadInput(f"the header {key} has more than one line")
        lines.append(b"%b: %b\r\n" % (key.encode(), value))
    return b"NATS/1.0\r\n%b\r\n" % b"".join(lines)


class _MessageIds:
    """The message ids of a partition's rows, the same at every attempt."""

    def __init__(self, write_id: str, partition: int) -> None:
        self._write_id = write_id
        self._partition = partition
        self._counts: dict[bytes, int] = {}

    def make(self, subject: str, data: bytes, pairs: Pairs, origin: tuple[str, int] | None) -> str:
        """Return the id of a row. origin: stream and sequence of the message that it comes from."""
        salt = [self._write_id, *map(str, origin or (self._partition,))]
        parts = [subject.encode(), data, *(part for key, value in pairs for part in (key.encode(), value))]
        row = blake2b("\0".join([*salt, ""]).encode(), digest_size=16)
        for part in parts:
            row.update(b"%d:" % len(part))
            row.update(part)
        digest = row.digest()
        count = self._counts[digest] = self._counts.get(digest, 0) + 1
        return f"{digest.hex()}.{count}"


class _BurstPublisher:
    """A publisher of bursts, one after the other.

    It reconnects when the connection ends, and then publishes messages without an ack again.
    """

    def __init__(self, job: WriteJob) -> None:
        self.published = self.duplicates = self.bytes = 0
        self._job = job
        self._connection: Connection | None = None
        self._pending: dict[int, OutgoingMessage] = {}
        self._is_retry = False
        self._streams = None if job.stream else ExpectedStreams()

    async def send(self, burst: Sequence[OutgoingMessage]) -> None:
        self._pending = {id(message): message for message in burst}
        failures = 0
        self._is_retry = False
        streams = self._streams
        while self._pending:
            pending_before = len(self._pending)
            try:
                if self._connection is None:
                    self._connection = await Connection.open(self._job.settings, reconnect=False)
                if streams:
                    named = await streams.add(
                        _create_api(self._connection, self._job), self._pending.values()
                    )
                    self._pending, streams = {id(message): message for message in named}, None
                await publish_with_acks(
                    self._connection,
                    _yield_once(list(self._pending.values())),
                    PublishTotals(),
                    self._count_ack,
                )
            except JsctlError as error:
                if isinstance(error, ApiError) and error.err_code == ErrorCode.STREAM_NOT_MATCH:
                    raise await self._build_mismatch_error() from None
                failures = failures + 1 if len(self._pending) == pending_before else 1
                if not _is_transient(error) or failures > self._job.retries:
                    raise
                if isinstance(error, NoResponders):
                    await self._check_subjects(error)
                await self._drop()
                await asyncio.sleep(min(0.1 * 2**failures, 5))
                self._is_retry = True

    def _count_ack(self, message: OutgoingMessage, ack: Json | None) -> None:
        if ack is None:  # only when no acks are requested
            return
        if self._pending.pop(id(message), None) is None:
            return
        # After a retry, a duplicate may be a message of this write whose ack was lost.
        is_duplicate = bool(ack.get("duplicate")) and not self._is_retry
        self.duplicates += is_duplicate
        self.published += not is_duplicate
        self.bytes += len(message.data)

    async def _check_subjects(self, error: NoResponders) -> None:
        """Raise NoResponders when no stream stores these subjects; otherwise the stream has no leader at
        present."""
        async for subject, streams in self._find_streams():
            if not streams:
                raise NoResponders(f"no stream stores {subject}", error.hint)

    async def _build_mismatch_error(self) -> BadInput:
        """Return the error for messages that another stream would have stored."""
        other = "another stream"
        if not self._job.stream:
            return BadInput(
                "another stream stores these messages than when the write began", "write what is left again"
            )
        async for _, streams in self._find_streams():
            if streams and self._job.stream not in streams:
                other = f"stream {streams[0]}"
                break
        return BadInput(
            f"{other} stores these messages, not {self._job.stream}",
            f"use subjects that {self._job.stream} stores",
        )

    async def _find_streams(self) -> AsyncIterator[tuple[str, list[str]]]:
        """Yield some of the subjects without an ack, and the streams that store each, as far as the login may
        ask."""
        if self._connection is None:
            return
        api = _create_api(self._connection, self._job)
        for subject in sorted({message.subject for message in self._pending.values()})[:20]:
            try:
                response = await api.call("STREAM.NAMES", {"subject": subject})
            except JsctlError:
                return
            yield subject, response.get("streams") or []

    async def _drop(self) -> None:
        if self._connection is not None:
            connection, self._connection = self._connection, None
            await connection.close()

    close = _drop


def _is_transient(error: JsctlError) -> bool:
    """Return whether another attempt may succeed: no server answered, or one was busy."""
    return isinstance(error, Unreachable) or (isinstance(error, ApiError) and error.code == 503)


def _create_api(connection: Connection, job: WriteJob) -> Api:
    return Api(connection, domain=job.settings.js_domain, prefix=job.settings.js_api_prefix)


async def _yield_once(burst: Sequence[OutgoingMessage]) -> AsyncIterator[Sequence[OutgoingMessage]]:
    yield burst
