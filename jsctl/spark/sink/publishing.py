"""Publish rows to a stream from a Spark task: message ids, acks in flight, and retries.

Every message has a `Nats-Msg-Id`, so that a stream drops what is published again: by a task that Spark
repeats, or after the acks of a burst were lost. The id is the row's `msg_id`, else the `Nats-Msg-Id` of its
headers, else a digest of the write's id, the partition's number, the row, and how many equal rows the
partition had before. It does not depend on the order of the rows, which differs between attempts after a
shuffle. Counting equal rows takes about 100 bytes of memory for each row; rows with ids of their own are not
counted.

The stream remembers ids for its duplicate window (2 minutes, unless configured). What is repeated later is
stored twice.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from jsctl.contexts.settings import Settings
from jsctl.errors import ApiError, BadInput, JsctlError, NoResponders, NotFound, Unreachable
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.message.publish import PublishTotals
from jsctl.jetstream.message.publish_acked import publish_with_acks
from jsctl.nats import from_sync
from jsctl.nats.codes import ErrorCode
from jsctl.nats.connection import Connection
from jsctl.nats.headers import encode_headers
from jsctl.nats.message import OutgoingMessage
from jsctl.nats.subjects import validate_subject

if TYPE_CHECKING:
    import pyarrow as pa

BURST = 2048
"""Messages after which all acks are waited for. At most one burst is published again after a failure."""

ID = "Nats-Msg-Id"

Pairs = list[tuple[str, bytes]]

Row = tuple[Any, Any, Any, Any]
"""subject, data, headers (pairs with "key" and "value"), msg_id; each may be None."""


@dataclass(frozen=True, slots=True)
class WriteJob:
    """Where rows go.

    stream: acks must come from it; empty for any. subject: for rows without one. write_id: identifies this
    write in message ids. retries: attempts without progress.
    """

    settings: Settings
    stream: str = ""
    subject: str = ""
    write_id: str = ""
    retries: int = 5


class Counts(NamedTuple):
    """What a task published. duplicates: messages that the stream had already."""

    published: int = 0
    duplicates: int = 0
    bytes: int = 0


def check_stream(job: WriteJob) -> None:
    """Raise NotFound when there is no such stream, and what a connection raises."""
    from_sync.run(_check_stream(job))


async def _check_stream(job: WriteJob) -> None:
    connection = await Connection.open(job.settings, reconnect=False)
    try:
        if job.stream:
            await _api(connection, job).call(f"STREAM.INFO.{job.stream}")
    except ApiError as error:
        if error.err_code == ErrorCode.STREAM_NOT_FOUND:
            raise NotFound(f"there is no stream {job.stream}", "create it with jsctl stream add") from None
        raise
    finally:
        await connection.close()


def publish(job: WriteJob, partition: int, rows: Iterable[Row]) -> Counts:
    """Publish all rows in their order.

    Raises BadInput for a row that cannot be a message, Unreachable, ApiError.
    """
    return from_sync.run(_publish(job, message_bursts(job, partition, rows)))


async def _publish(job: WriteJob, bursts: Iterable[Sequence[OutgoingMessage]]) -> Counts:
    publisher = _BurstPublisher(job)
    try:
        for burst in bursts:
            await publisher.send(burst)
    finally:
        await publisher.close()
    return Counts(publisher.published, publisher.duplicates, publisher.bytes)


def batch_rows(batches: "Iterable[pa.RecordBatch]") -> Iterator[Row]:
    """Yield the rows of Arrow batches. Missing columns are None."""
    for batch in batches:
        names = batch.schema.names
        columns: list[list[Any]] = [
            batch.column(names.index(name)).to_pylist() if name in names else [None] * batch.num_rows
            for name in ("subject", "data", "headers", "msg_id")
        ]
        yield from zip(*columns, strict=True)


def message_bursts(job: WriteJob, partition: int, rows: Iterable[Row]) -> Iterator[Sequence[OutgoingMessage]]:
    """Yield rows as bursts of messages with ids."""
    ids = _MessageIds(job.write_id, partition)
    remaining = iter(rows)
    while burst := [_message(job, ids, *row) for row in islice(remaining, BURST)]:
        yield burst


def _message(
    job: WriteJob,
    ids: "_MessageIds",
    subject: str | None,
    data: bytes | bytearray | str | None,
    headers: Any,
    message_id: str | None,
) -> OutgoingMessage:
    subject = validate_subject(subject if subject is not None else job.subject)
    payload = data.encode() if isinstance(data, str) else bytes(data or b"")
    pairs: Pairs = [(pair["key"], _bytes(pair["value"])) for pair in headers or ()]
    if not message_id:
        message_id = next((value.decode() for key, value in pairs if key.lower() == ID.lower()), "")
    message_id = message_id or ids.make(subject, payload, pairs)
    headers_without_id = [(key, value) for key, value in pairs if key.lower() != ID.lower()]
    header_block = _encode_headers([*headers_without_id, (ID, message_id.encode())])
    return OutgoingMessage(subject, payload, header_block=header_block)


def _bytes(value: bytes | bytearray | str | None) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value or b"")


def _encode_headers(pairs: Pairs) -> bytes:
    """Encode headers whose values are bytes that need not be UTF-8. Raises BadInput."""
    lines = []
    for key, value in pairs:
        encode_headers([(key or "", "")])  # validates the key
        if b"\r" in value or b"\n" in value:
            raise BadInput(f"the header {key} has more than one line")
        lines.append(b"%b: %b\r\n" % (key.encode(), value))
    return b"NATS/1.0\r\n%b\r\n" % b"".join(lines)


class _MessageIds:
    """Makes message ids of a partition's rows, the same ones at every attempt."""

    def __init__(self, write_id: str, partition: int) -> None:
        self._salt = f"{write_id}\0{partition}\0".encode()
        self._seen: dict[bytes, int] = {}

    def make(self, subject: str, data: bytes, pairs: Pairs) -> str:
        parts = [subject.encode(), data, *(part for key, value in pairs for part in (key.encode(), value))]
        row = blake2b(self._salt, digest_size=16)
        for part in parts:
            row.update(b"%d:" % len(part))
            row.update(part)
        digest = row.digest()
        count = self._seen[digest] = self._seen.get(digest, 0) + 1
        return f"{digest.hex()}.{count}"


class _BurstPublisher:
    """Publishes one burst after the other. Reconnects when the connection ends, and publishes messages
    without an ack again."""

    def __init__(self, job: WriteJob) -> None:
        self.published = self.duplicates = self.bytes = 0
        self._job = job
        self._connection: Connection | None = None
        self._pending: dict[int, OutgoingMessage] = {}
        self._is_retry = False
        self._foreign_stream = ""

    async def send(self, burst: Sequence[OutgoingMessage]) -> None:
        self._pending = {id(message): message for message in burst}
        failures = 0
        self._is_retry = False
        while self._pending:
            before = len(self._pending)
            try:
                if self._connection is None:
                    self._connection = await Connection.open(self._job.settings, reconnect=False)
                await publish_with_acks(
                    self._connection, _once(list(self._pending.values())), PublishTotals(), self._count_ack
                )
            except JsctlError as error:
                if self._foreign_stream:
                    break
                failures = failures + 1 if len(self._pending) == before else 1
                if not _is_transient(error) or failures > self._job.retries:
                    raise
                if isinstance(error, NoResponders):
                    await self._check_subjects(error)
                await self._drop()
                await asyncio.sleep(min(0.1 * 2**failures, 5))
                self._is_retry = True
            if self._foreign_stream:
                break
        if self._foreign_stream:
            raise BadInput(
                f"the stream {self._foreign_stream} takes these messages, not {self._job.stream}",
                "choose subjects that the stream listens on",
            )

    def _count_ack(self, message: OutgoingMessage, ack: Json | None) -> None:
        if ack is None:  # only where no acks are asked for
            return
        if self._job.stream and ack.get("stream") != self._job.stream:
            self._foreign_stream = str(ack.get("stream"))
        if self._pending.pop(id(message), None) is None:
            return
        # After a retry, a duplicate may be a message of this write whose ack was lost.
        is_duplicate = bool(ack.get("duplicate")) and not self._is_retry
        self.duplicates += is_duplicate
        self.published += not is_duplicate
        self.bytes += len(message.data)

    async def _check_subjects(self, error: NoResponders) -> None:
        """Raise NoResponders when no stream has these subjects; otherwise it has no leader now, and may have
        later.
        """
        if self._connection is None:
            return
        api = _api(self._connection, self._job)
        for subject in sorted({message.subject for message in self._pending.values()})[:20]:
            try:
                response = await api.call("STREAM.NAMES", {"subject": subject})
            except JsctlError:
                return
            if not response.get("streams"):
                raise NoResponders(f"no stream takes {subject}", error.hint)

    async def _drop(self) -> None:
        if self._connection is not None:
            connection, self._connection = self._connection, None
            await connection.close()

    close = _drop


def _is_transient(error: JsctlError) -> bool:
    """Whether another attempt may succeed: no server answered, or one was busy."""
    return isinstance(error, Unreachable) or (isinstance(error, ApiError) and error.code == 503)


def _api(connection: Connection, job: WriteJob) -> Api:
    return Api(connection, domain=job.settings.js_domain, prefix=job.settings.js_api_prefix)


async def _once(burst: Sequence[OutgoingMessage]) -> AsyncIterator[Sequence[OutgoingMessage]]:
    yield burst
