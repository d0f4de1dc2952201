"""Publishing: many messages in bursts, JetStream acks in a window, atomic batches, schedules."""

import asyncio
import contextlib
from collections.abc import AsyncIterable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from jsctl import units
from jsctl.errors import ApiError, BadInput, Denied, JsctlError, NoResponders, RequestTimeout
from jsctl.jetstream.api import Json, parse_response
from jsctl.nats.codec import encode_publish
from jsctl.nats.connection import BURST, Connection, is_no_responders
from jsctl.nats.events import ConnectionEvent, EventHandler, PermissionDenied
from jsctl.nats.headers import encode_headers, parse_headers
from jsctl.nats.message import Message, OutgoingMessage
from jsctl.nats.subjects import validate_subject
from jsctl.nats.templates import Moment, Template, compile_template, unique_id

WINDOW = 1024
"""Messages on their way to a stream without an ack."""

LARGEST_BATCH = 1000  #: messages of an atomic batch (ADR-50; the server's default limit)


Bursts = AsyncIterable[Sequence[OutgoingMessage]]


@dataclass(frozen=True, slots=True)
class Draft:
    """What messages are made of. Header values are templates, as subject and body."""

    subject: Template
    body: Template
    headers: Sequence[tuple[str, Template]] = ()
    reply: str = ""

    def make(self, moment: Moment) -> OutgoingMessage:
        subject = self.subject.render(moment).decode(errors="replace")
        if self.subject.fixed is None:
            validate_subject(subject)
        pairs = [(key, value.render(moment).decode(errors="replace")) for key, value in self.headers]
        return OutgoingMessage(subject, self.body.render(moment), self.reply, encode_headers(pairs))

    def many(self, first: int, count: int) -> Iterator[OutgoingMessage]:
        """`count` messages, numbered from `first`."""
        for number in range(first, first + count):
            yield self.make(Moment(number))


def draft(
    subject: str, body: bytes, headers: Sequence[str] = (), *, reply: str = "", templates: bool = True
) -> Draft:
    """A draft from the command line; `headers` are `K:V`. Raises BadInput."""
    made = Draft(
        compile_template(subject.encode(), enabled=templates),
        compile_template(body, enabled=templates),
        header_templates(headers),
        reply,
    )
    if made.subject.fixed is not None:
        validate_subject(subject)
    if reply:
        validate_subject(reply, "reply on")
    return made


def header_templates(headers: Sequence[str]) -> list[tuple[str, Template]]:
    """`K:V` texts as names and templates. Raises BadInput."""
    pairs = []
    for text in headers:
        key, colon, value = text.partition(":")
        if not colon or not key.strip():
            raise BadInput(f"{text!r} is no header", "use K:V")
        encode_headers([(key.strip(), "")])
        pairs.append((key.strip(), compile_template(value.strip().encode())))
    return pairs


@dataclass(slots=True)
class Count:
    """What was published so far. `acks` are kept while they are few."""

    messages: int = 0
    bytes: int = 0
    duplicates: int = 0
    streams: dict[str, tuple[int, int]] = field(default_factory=dict)  #: first and last sequence
    acks: list[Json] = field(default_factory=list)

    def add(self, ack: Json) -> None:
        stream, sequence = str(ack.get("stream", "")), int(ack.get("seq", 0))
        first, last = self.streams.get(stream, (sequence, sequence))
        self.streams[stream] = min(first, sequence), max(last, sequence)
        self.duplicates += bool(ack.get("duplicate"))
        if len(self.acks) < 100:
            self.acks.append(ack)


Done = Callable[[OutgoingMessage, Json | None], None]
"""Called for each message that was published, with its ack where there is one."""


def _on_denied(handle: Callable[[Denied], None]) -> EventHandler:
    """Return an event handler that deals with refused publishes."""

    def watch(event: ConnectionEvent) -> bool:
        if isinstance(event, PermissionDenied) and event.operation == "publish":
            handle(event.error())
            return True
        return False

    return watch


async def core(
    connection: Connection, bursts: Bursts, count: Count, done: Done, *, confirm: bool = False
) -> None:
    """Publish without acks. Returns when the server has everything.

    confirm: wait for the server before each `done`. Raises Denied, BadInput, Unreachable.
    """
    refusals: list[Denied] = []
    with connection.watching(_on_denied(refusals.append)):
        async for burst in bursts:
            await _burst(connection, burst, count, done, confirm, refusals)
        await connection.flush()
        if refusals:
            raise refusals[0]


async def _burst(
    connection: Connection,
    burst: Sequence[OutgoingMessage],
    count: Count,
    done: Done,
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
            if message.size > largest:
                connection.check_size(message)
            framed = message.encode()
            block.append(framed)
            size += len(framed)
            at += 1
        await connection.send(b"".join(block))
        if confirm:
            await connection.flush()
        if refusals:
            raise refusals[0]
        for message in burst[first:at]:
            count.messages += 1
            count.bytes += len(message.data)
            done(message, None)


class _Acks:
    """Acks of messages on their way, by number."""

    def __init__(self, count: Count, done: Done) -> None:
        self.waiting: dict[int, OutgoingMessage] = {}
        self.failure: JsctlError | None = None
        self.changed = asyncio.Event()
        self._count = count
        self._done = done

    def handle(self, reply: Message) -> None:
        message = self.waiting.pop(int(reply.subject.rpartition(".")[2]), None)
        if message is None:
            return
        try:
            ack = parse_ack(message.subject, reply)
        except JsctlError as error:
            self.failure = self.failure or error
        else:
            self._count.messages += 1
            self._count.bytes += len(message.data)
            self._count.add(ack)
            self._done(message, ack)
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


async def acked(connection: Connection, bursts: Bursts, count: Count, done: Done) -> None:
    """Publish to streams, up to WINDOW messages ahead of their acks; order is kept.

    Raises NoResponders where no stream listens, ApiError for a refusal, RequestTimeout.
    """
    acks, number = _Acks(count, done), 0
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
            f"what answers on {subject} is no stream", "publish without --jetstream, or use jsctl request"
        ) from None


async def atomic(connection: Connection, messages: Sequence[OutgoingMessage], timeout: int = 0) -> Json:
    """Store all messages or none of them (ADR-50). Gives the ack of the batch: `{stream, seq, batch, count}`.

    Raises BadInput for too many, ApiError when the server refuses the batch.
    """
    if not messages:
        raise BadInput("there is no message to publish")
    if len(messages) > LARGEST_BATCH:
        raise BadInput(f"{len(messages):,} messages are too many: an atomic batch takes {LARGEST_BATCH:,}")
    batch, last = unique_id(), len(messages)
    inbox = connection.new_inbox()
    replies: asyncio.Queue[Message] = asyncio.Queue()
    async with connection.receive(inbox, replies.put_nowait):
        for number, message in enumerate(messages, 1):
            extra = [("Nats-Batch-Id", batch), ("Nats-Batch-Sequence", str(number))]
            if number == last:
                extra.append(("Nats-Batch-Commit", "1"))
            header = encode_headers([*parse_headers(message.header_block), *extra])
            framed = message._replace(header_block=header)
            connection.check_size(framed)
            # The first answer says early whether the stream takes batches at all.
            asks = number in (1, last)
            await connection.send(
                encode_publish(message.subject, message.data, inbox if asks else message.reply, header)
            )
            if asks:
                limit = (timeout or connection.settings.timeout) / units.SECOND
                try:
                    async with asyncio.timeout(limit):
                        answer = await replies.get()
                except TimeoutError:
                    raise RequestTimeout(f"no answer to the batch on {message.subject}") from None
                if answer.size or number == last:
                    ack = parse_ack(message.subject, answer)
                    if number == last:
                        return ack
                    raise BadInput(
                        "the stream stored the first message by itself",
                        "it does not take atomic batches; jsctl stream edit --allow-batch",
                    )
    raise AssertionError("the last message of a batch asks")


def schedule_headers(values: dict[str, Any], now: float) -> list[tuple[str, str]]:
    """Headers of a scheduled message (ADR-51). `values` are the flags: after, at, cron, every (ns), dest,
    source, ttl; empty ones left out. Raises BadInput."""
    if not values:
        return []
    given = [name for name in ("at", "after", "every", "cron") if values.get(name) is not None]
    if not values.get("dest"):
        raise BadInput("a schedule needs a destination", "give --schedule-dest SUBJECT")
    if len(given) != 1:
        raise BadInput("give one of --schedule-at, --schedule-after, --schedule-every and --schedule-cron")
    for name in ("after", "every"):
        if values.get(name) is not None and values[name] <= 0:
            raise BadInput(f"--schedule-{name} must be more than 0")
    pairs = [
        ("Nats-Schedule", _schedule(given[0], values[given[0]], now)),
        ("Nats-Schedule-Target", str(values["dest"])),
    ]
    if values.get("ttl"):
        pairs.append(("Nats-Schedule-TTL", ttl(values["ttl"])))
    if values.get("source"):
        pairs.append(("Nats-Schedule-Source", str(values["source"])))
    return pairs


def _schedule(kind: str, value: Any, now: float) -> str:
    match kind:
        case "at":
            return f"@at {_utc(value)}"
        case "after":
            return f"@at {units.format_rfc3339(units.seconds_to_ns(now) + value)}"
        case "every":
            if value % units.SECOND:
                raise BadInput("--schedule-every is in whole seconds")
            return f"@every {value // units.SECOND}s"
        case _:
            return str(value)


def ttl(value: int) -> str:
    """A TTL as the server reads it: whole seconds, at least one (ADR-43). Raises BadInput."""
    if value < units.SECOND or value % units.SECOND:
        raise BadInput("a message's TTL is in whole seconds, at least 1s")
    return f"{value // units.SECOND}s"


def _utc(text: str) -> str:
    with contextlib.suppress(ValueError):
        return units.format_rfc3339(round(units.parse_time(text).timestamp()) * units.SECOND)
    raise BadInput(f"{text!r} is not an RFC 3339 time", "such as 2026-11-21T18:00:00Z")
