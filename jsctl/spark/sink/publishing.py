"""Rows of an Arrow batch into a stream: message ids, acks in flight, and what is sent again.

Every message has a `Nats-Msg-Id`, so that a stream drops what a task sends again: a task that Spark repeats,
or a burst whose acks were lost. The id is the row's `msg_id`, else the `Nats-Msg-Id` of its headers, else a
digest of the write, the partition's number, the row, and how often the partition had that very row before. It
does not depend on the order of the rows, which after a shuffle is another one at the next attempt. Counting
rows takes about 100 bytes of memory a row; with ids of your own nothing is counted.

The stream remembers ids for its duplicate window (2 minutes, unless configured): what is repeated later is
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
from jsctl.jetstream.message.publish import PublishTotals, publish_with_acks
from jsctl.nats.connection import Connection
from jsctl.nats.headers import encode_headers
from jsctl.nats.message import OutgoingMessage
from jsctl.nats.subjects import validate_subject

if TYPE_CHECKING:
    import pyarrow as pa

BURST = 2048
"""Messages after which all acks are waited for; what is sent again after a failure is one burst at most."""

ID = "Nats-Msg-Id"

Pairs = list[tuple[str, bytes]]

Row = tuple[Any, Any, Any, Any]
"""subject, data, headers (pairs with "key" and "value"), msg_id; each may be None."""


@dataclass(frozen=True, slots=True)
class WriteJob:
    """Where rows go. stream: acks must come from it, empty for any. subject: for rows without one.
    write: what tells this write from others, in message ids. retries: attempts without progress."""

    settings: Settings
    stream: str = ""
    subject: str = ""
    write: str = ""
    retries: int = 5


class Counts(NamedTuple):
    """What a task published. duplicates: messages that the stream had already."""

    published: int = 0
    duplicates: int = 0
    bytes: int = 0


def check(job: WriteJob) -> None:
    """Raises NotFound when the stream is not there, and what a connection raises."""
    asyncio.run(_check(job))


async def _check(job: WriteJob) -> None:
    connection = await Connection.open(job.settings, reconnect=False)
    try:
        if job.stream:
            await _api(connection, job).call(f"STREAM.INFO.{job.stream}")
    except ApiError as error:
        if error.err_code == 10059:
            raise NotFound(f"there is no stream {job.stream}", "jsctl stream add makes one") from None
        raise
    finally:
        await connection.close()


def publish(job: WriteJob, partition: int, rows: Iterable[Row]) -> Counts:
    """Publish all rows, in their order. Raises BadInput (a row that is no message), Unreachable, ApiError."""
    return asyncio.run(_publish(job, messages(job, partition, rows)))


async def _publish(job: WriteJob, bursts: Iterable[Sequence[OutgoingMessage]]) -> Counts:
    sender = _Sender(job)
    try:
        for burst in bursts:
            await sender.send(burst)
    finally:
        await sender.close()
    return Counts(sender.published, sender.duplicates, sender.bytes)


def rows(batches: "Iterable[pa.RecordBatch]") -> Iterator[Row]:
    """Rows of Arrow batches; columns that are not there are None."""
    for batch in batches:
        names = batch.schema.names
        columns: list[list[Any]] = [
            batch.column(names.index(name)).to_pylist() if name in names else [None] * batch.num_rows
            for name in ("subject", "data", "headers", "msg_id")
        ]
        yield from zip(*columns, strict=True)


def messages(job: WriteJob, partition: int, rows: Iterable[Row]) -> Iterator[Sequence[OutgoingMessage]]:
    """Rows as bursts of messages with ids."""
    ids = _Ids(job.write, partition)
    left = iter(rows)
    while burst := [_message(job, ids, *row) for row in islice(left, BURST)]:
        yield burst


def _message(
    job: WriteJob,
    ids: "_Ids",
    subject: str | None,
    data: bytes | bytearray | str | None,
    headers: Any,
    own: str | None,
) -> OutgoingMessage:
    where = validate_subject(subject if subject is not None else job.subject)
    body = data.encode() if isinstance(data, str) else bytes(data or b"")
    pairs: Pairs = [(pair["key"], _bytes(pair["value"])) for pair in headers or ()]
    if not own:
        own = next((value.decode() for key, value in pairs if key.lower() == ID.lower()), "")
    own = own or ids.make(where, body, pairs)
    kept = [(key, value) for key, value in pairs if key.lower() != ID.lower()]
    return OutgoingMessage(where, body, header_block=_block([*kept, (ID, own.encode())]))


def _bytes(value: bytes | bytearray | str | None) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value or b"")


def _block(pairs: Pairs) -> bytes:
    """As frames.header_block; values are bytes, which need not be UTF-8."""
    lines = []
    for key, value in pairs:
        encode_headers([(key or "", "")])
        if b"\r" in value or b"\n" in value:
            raise BadInput(f"the header {key} has more than one line")
        lines.append(b"%b: %b\r\n" % (key.encode(), value))
    return b"NATS/1.0\r\n%b\r\n" % b"".join(lines)


class _Ids:
    """Message ids of a partition's rows, the same at every attempt."""

    def __init__(self, write: str, partition: int) -> None:
        self._salt = f"{write}\0{partition}\0".encode()
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


class _Sender:
    """Bursts to a stream, one after the other. A connection that ends is made again, and what has no ack yet
    is sent again."""

    def __init__(self, job: WriteJob) -> None:
        self.published = self.duplicates = self.bytes = 0
        self._job = job
        self._connection: Connection | None = None
        self._pending: dict[int, OutgoingMessage] = {}
        self._again = False
        self._foreign = ""

    async def send(self, burst: Sequence[OutgoingMessage]) -> None:
        self._pending = {id(message): message for message in burst}
        failures = 0
        self._again = False
        while self._pending:
            before = len(self._pending)
            try:
                if self._connection is None:
                    self._connection = await Connection.open(self._job.settings, reconnect=False)
                await publish_with_acks(
                    self._connection, _once(list(self._pending.values())), PublishTotals(), self._done
                )
            except JsctlError as error:
                if self._foreign:
                    break
                failures = failures + 1 if len(self._pending) == before else 1
                if not _passing(error) or failures > self._job.retries:
                    raise
                if isinstance(error, NoResponders):
                    await self._check_subjects(error)
                await self._drop()
                await asyncio.sleep(min(0.1 * 2**failures, 5))
                self._again = True
            if self._foreign:
                break
        if self._foreign:
            raise BadInput(
                f"the stream {self._foreign} takes these messages, not {self._job.stream}",
                "choose subjects that the stream listens on",
            )

    def _done(self, message: OutgoingMessage, ack: Json | None) -> None:
        assert ack is not None
        if self._job.stream and ack.get("stream") != self._job.stream:
            self._foreign = str(ack.get("stream"))
        if self._pending.pop(id(message), None) is None:
            return
        # Of what was sent again nobody knows whether it is here twice, or only its ack was lost.
        duplicate = bool(ack.get("duplicate")) and not self._again
        self.duplicates += duplicate
        self.published += not duplicate
        self.bytes += len(message.data)

    async def _check_subjects(self, error: NoResponders) -> None:
        """While a stream has no leader nobody answers; where there is no stream, nobody ever will."""
        assert self._connection is not None
        api = _api(self._connection, self._job)
        for subject in sorted({message.subject for message in self._pending.values()})[:20]:
            try:
                known = await api.call("STREAM.NAMES", {"subject": subject})
            except JsctlError:
                return
            if not known.get("streams"):
                raise NoResponders(f"no stream takes {subject}", error.hint)

    async def _drop(self) -> None:
        if self._connection is not None:
            connection, self._connection = self._connection, None
            await connection.close()

    close = _drop


def _passing(error: JsctlError) -> bool:
    """Whether another attempt may work: nobody answered, or a server was busy."""
    return isinstance(error, Unreachable) or (isinstance(error, ApiError) and error.code == 503)


def _api(connection: Connection, job: WriteJob) -> Api:
    return Api(connection, domain=job.settings.js_domain, prefix=job.settings.js_api_prefix)


async def _once(burst: Sequence[OutgoingMessage]) -> AsyncIterator[Sequence[OutgoingMessage]]:
    yield burst
