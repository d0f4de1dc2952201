"""Publishing: many messages in bursts, with the acks of streams in a window, and as atomic batches."""

import asyncio
from collections.abc import AsyncIterable, Callable, Sequence
from dataclasses import dataclass, field

from jsctl import units
from jsctl.errors import ApiError, BadInput, Denied, JsctlError, NoResponders, RequestTimeout
from jsctl.jetstream.api import Json, parse_response
from jsctl.nats.codec import encode_publish
from jsctl.nats.connection import BURST, Connection, is_no_responders
from jsctl.nats.events import ConnectionEvent, EventHandler, PermissionDenied
from jsctl.nats.headers import encode_headers, parse_headers
from jsctl.nats.message import Message, OutgoingMessage
from jsctl.nats.templates import unique_id

WINDOW = 1024
"""Messages on their way to a stream without an ack."""

LARGEST_BATCH = 1000  #: messages of an atomic batch (ADR-50; the server's default limit)


Bursts = AsyncIterable[Sequence[OutgoingMessage]]


@dataclass(slots=True)
class PublishTotals:
    """What was published so far. bytes: of data. acks: the first hundred. streams: the first and last
    sequence in each."""

    messages: int = 0
    bytes: int = 0
    duplicates: int = 0
    streams: dict[str, tuple[int, int]] = field(default_factory=dict)
    acks: list[Json] = field(default_factory=list)

    def add(self, ack: Json) -> None:
        """Count an ack."""
        stream, sequence = str(ack.get("stream", "")), int(ack.get("seq", 0))
        first, last = self.streams.get(stream, (sequence, sequence))
        self.streams[stream] = min(first, sequence), max(last, sequence)
        self.duplicates += bool(ack.get("duplicate"))
        if len(self.acks) < 100:
            self.acks.append(ack)


PublishedHandler = Callable[[OutgoingMessage, Json | None], None]
"""Called for each message that was published, with its ack when there is one."""


def _on_denied(handle: Callable[[Denied], None]) -> EventHandler:
    """Return an event handler that deals with refused publishes."""

    def watch(event: ConnectionEvent) -> bool:
        if isinstance(event, PermissionDenied) and event.operation == "publish":
            handle(event.error())
            return True
        return False

    return watch


async def publish(
    connection: Connection,
    bursts: Bursts,
    totals: PublishTotals,
    handle_published: PublishedHandler,
    *,
    confirm: bool = False,
) -> None:
    """Publish without acks. Returns when the server has everything.

    confirm: wait for the server before each `handle_published`. Raises Denied, BadInput, Unreachable.
    """
    refusals: list[Denied] = []
    with connection.watching(_on_denied(refusals.append)):
        async for burst in bursts:
            await _burst(connection, burst, totals, handle_published, confirm, refusals)
        await connection.flush()
        if refusals:
            raise refusals[0]


async def _burst(
    connection: Connection,
    burst: Sequence[OutgoingMessage],
    totals: PublishTotals,
    handle_published: PublishedHandler,
    confirm: bool,
    refusals: Sequence[Denied],
) -> None:
    largest = connection.max_payload
    at = 0
    while at < len(burst):
        block: list[bytes] = []
        first, size = at, 0
        while at < len(burst) and size < BURST:
            message = burst[at]
            if len(message.header_block) + len(message.data) > largest:
                connection.check_size(message)
            framed = encode_publish(message.subject, message.data, message.reply, message.header_block)
            block.append(framed)
            size += len(framed)
            at += 1
        await connection.send(b"".join(block))
        if confirm:
            await connection.flush()
        if refusals:
            raise refusals[0]
        for message in burst[first:at]:
            totals.messages += 1
            totals.bytes += len(message.data)
            handle_published(message, None)


class _Acks:
    """Acks of messages on their way, by number."""

    def __init__(self, totals: PublishTotals, handle_published: PublishedHandler) -> None:
        self.waiting: dict[int, OutgoingMessage] = {}
        self.failure: JsctlError | None = None
        self.changed = asyncio.Event()
        self._totals = totals
        self._handle_published = handle_published

    def handle(self, reply: Message) -> None:
        message = self.waiting.pop(int(reply.subject.rpartition(".")[2]), None)
        if message is None:
            return
        try:
            ack = parse_ack(message.subject, reply)
        except JsctlError as error:
            self.failure = self.failure or error
        else:
            self._totals.messages += 1
            self._totals.bytes += len(message.data)
            self._totals.add(ack)
            self._handle_published(message, ack)
        self.changed.set()

    def refused(self, error: Denied) -> None:
        self.failure = self.failure or error
        self.changed.set()

    async def below(self, most: int, timeout: int) -> None:
        """Wait until at most that many acks are missing. Raises what went wrong with one."""
        while len(self.waiting) > most and not self.failure:
            self.changed.clear()
            try:
                async with asyncio.timeout(timeout / units.SECOND):
                    await self.changed.wait()
            except TimeoutError:
                subject = next(iter(self.waiting.values())).subject
                raise RequestTimeout(
                    f"no ack for {len(self.waiting)} messages, the first on {subject}",
                    "they may be stored all the same; --timeout waits longer",
                ) from None
        if self.failure:
            raise self.failure


async def publish_with_acks(
    connection: Connection, bursts: Bursts, totals: PublishTotals, handle_published: PublishedHandler
) -> None:
    """Publish to streams, up to WINDOW messages ahead of their acks; order is kept.

    Raises NoResponders where no stream listens, ApiError for a refusal, RequestTimeout.
    """
    acks, number = _Acks(totals, handle_published), 0
    inbox = connection.new_inbox()
    timeout = connection.settings.timeout
    with connection.watching(_on_denied(acks.refused)):
        async with connection.receive(f"{inbox}.*", acks.handle):
            async for burst in bursts:
                for start in range(0, len(burst), WINDOW // 4):
                    block = []
                    for message in burst[start : start + WINDOW // 4]:
                        connection.check_size(message)
                        number += 1
                        acks.waiting[number] = message
                        reply = f"{inbox}.{number}"
                        block.append(
                            encode_publish(message.subject, message.data, reply, message.header_block)
                        )
                    await connection.send(b"".join(block))
                    await acks.below(WINDOW, timeout)
            await acks.below(0, timeout)


def parse_ack(subject: str, reply: Message) -> Json:
    """Parse the acknowledgement of a message that was published to `subject`.

    Raises NoResponders, ApiError, and JsctlError when it is not one of a stream.
    """
    if is_no_responders(reply):
        raise NoResponders(
            f"no stream takes {subject}", "jsctl stream ls shows the streams, stream find who takes a subject"
        )
    try:
        return parse_response(reply.data, subject)
    except ApiError:
        raise
    except JsctlError:
        raise JsctlError(
            f"what answers on {subject} is not a stream", "publish without --jetstream, or use jsctl request"
        ) from None


async def publish_atomically(
    connection: Connection, messages: Sequence[OutgoingMessage], timeout: int = 0
) -> Json:
    """Store all messages or none of them (ADR-50). timeout: ns for each answer; 0 for the settings' own.

    Returns the ack of the batch: `{stream, seq, batch, count}`. Raises BadInput for too many messages or a
    stream that does not take batches, ApiError when the server refuses the batch, RequestTimeout.
    """
    if not messages:
        raise BadInput("there is no message to publish")
    if len(messages) > LARGEST_BATCH:
        raise BadInput(f"{len(messages):,} messages are too many: an atomic batch takes {LARGEST_BATCH:,}")
    batch, last = unique_id(), len(messages)
    limit = (timeout or connection.settings.timeout) / units.SECOND
    inbox = connection.new_inbox()
    answers: asyncio.Queue[Message] = asyncio.Queue()
    async with connection.receive(inbox, answers.put_nowait):
        for number, message in enumerate(messages, 1):
            headers = [("Nats-Batch-Id", batch), ("Nats-Batch-Sequence", str(number))]
            if number == last:
                headers.append(("Nats-Batch-Commit", "1"))
            block = encode_headers([*parse_headers(message.header_block), *headers])
            # The first answer says early whether the stream takes batches at all.
            asks = number in (1, last)
            part = message._replace(header_block=block, reply=inbox if asks else message.reply)
            connection.check_size(part)
            await connection.send(part.encode())
            if not asks:
                continue
            try:
                async with asyncio.timeout(limit):
                    answer = await answers.get()
            except TimeoutError:
                raise RequestTimeout(f"no answer to the batch on {message.subject}") from None
            if number == last:
                break
            if answer.size:
                parse_ack(message.subject, answer)
                raise BadInput(
                    "the stream stored the first message by itself",
                    "it does not take atomic batches; jsctl stream edit --allow-batch",
                )
    return parse_ack(messages[-1].subject, answer)
