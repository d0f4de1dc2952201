"""Receiving messages, from subjects or from a stream, until something ends it."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar, overload

from jsctl.base.command_lines import build_line
from jsctl.base.loops import enter_event_loop
from jsctl.errors import BadInput, NotFound
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.message import feed
from jsctl.jetstream.message.buffer import EventBuffer
from jsctl.jetstream.message.direct_feed import DirectFeed
from jsctl.jetstream.message.receive_options import ReceiveOptions, StreamSource
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.acks import ACK
from jsctl.nats.codec import encode_publish
from jsctl.nats.connection import Connection
from jsctl.nats.delivery_reader import Deliveries, Row
from jsctl.nats.events import ConnectionEvent, Disconnected, Reconnected
from jsctl.nats.message import Message, MessageHandler
from jsctl.nats.subjects import explain_wildcards, matches, validate_subject

T = TypeVar("T")

_WORK_QUEUES = ("workqueue", "interest")
_CONTROL = 100  #: status of flow control and heartbeats (ADR-9)
_BLAME = 2.0  #: seconds after a stalled write during which a lost connection is attributed to it


class Received(NamedTuple):
    """A message. number: counts from 1. subscription: the subject filter that it matched, or its subject if
    it comes from a stream. reply: the reply that was matched to it."""

    message: Message
    number: int
    subscription: str
    reply: Message | None = None


class ReceivedRun(Sequence[Received]):
    """Messages of a stream that follow each other. number: of the first one.

    Like `Deliveries`, it makes what stands for a message when one is first asked for.
    """

    def __init__(self, messages: Sequence[Message], number: int) -> None:
        self.messages = messages
        self.number = number

    @property
    def rows(self) -> list[Row]:
        """The messages as a consumer delivered them; empty if they came otherwise."""
        return self.messages.rows if isinstance(self.messages, Deliveries) else []

    def __len__(self) -> int:
        return len(self.messages)

    @property
    def data_size(self) -> int:
        """Bytes of all data."""
        rows = self.rows
        return sum([len(row[6]) for row in rows] if rows else [len(each.data) for each in self.messages])

    @overload
    def __getitem__(self, at: int) -> Received: ...
    @overload
    def __getitem__(self, at: slice) -> "ReceivedRun": ...
    def __getitem__(self, at: int | slice) -> "Received | ReceivedRun":
        if isinstance(at, slice):
            return ReceivedRun(self.messages[at], self.number + at.indices(len(self))[0])
        message = self.messages[at]
        return Received(message, range(self.number, self.number + len(self))[at], message.subject)

    def __iter__(self) -> Iterator[Received]:
        numbered = enumerate(self.messages, self.number)
        new_tuple = tuple.__new__  # three times as fast as `Received(...)`
        return (new_tuple(Received, (each, number, each.subject, None)) for number, each in numbered)


@dataclass(slots=True)
class Statistics:
    """Counts of messages so far, and of interruptions. started: monotonic, in ns. bytes: of data."""

    started: int
    messages: int = 0
    bytes: int = 0
    disconnections: int = 0
    reconnections: int = 0
    slow: int = 0  #: disconnections because our output was stalled
    restarts: int = 0  #: times that reading from the stream started again


class Receiver:
    """One run of receiving: iterate over `read_batches`; `stop` ends it in order.

    warn: called with a sentence about each problem that is handled. announce: called with a sentence about
    each subscription.
    """

    def __init__(
        self,
        connection: Connection,
        options: ReceiveOptions,
        *,
        api: Api | None = None,
        warn: Callable[[str], None],
        announce: Callable[[str], None],
    ) -> None:
        self.options = options
        self._connection = connection
        self._api = api
        self._warn = warn
        self._announce = announce
        self._buffer: EventBuffer[Received] = EventBuffer()
        self._requests: dict[str, Received] = {}  #: without a reply yet, by reply subject
        self._feed: feed.Feed | None = None
        self._statistics = Statistics(time.monotonic_ns())
        self._stalled_at = 0.0  #: when the last long write of our output ended; monotonic
        self._stalled_for = 0.0

    @property
    def statistics(self) -> Statistics:
        """The statistics so far."""
        if self._feed is not None:
            self._statistics.restarts = self._feed.troubles
        return self._statistics

    def stop(self) -> None:
        """End `read_batches` after the messages that have already been received."""
        self._buffer.close()

    def record_stall(self, seconds: float) -> None:
        """Record that our output was blocked for `seconds`: the server may close the connection of a slow
        consumer."""
        self._stalled_at, self._stalled_for = time.monotonic(), seconds

    async def read_batches(self) -> AsyncGenerator[Sequence[Received], None]:
        """Yield messages as they are received; they are acknowledged when the next batch is requested.

        Raises BadInput for a subject that is not valid, NotFound for a missing stream, Denied for a refused
        subscription, Unreachable when the connection is closed for good, and what the stream refuses.
        """
        for subject in self.options.subjects:
            validate_subject(subject, "subscribe to")
        await enter_event_loop()
        with self._connection.watching(self._watch):
            async with AsyncExitStack() as stack:
                if self.options.stream is None:
                    await self._subscribe(stack)
                else:
                    self._feed = await self._open_feed(self.options.stream)
                    work = asyncio.ensure_future(self._feed.run())
                    self._buffer.close_after(work)
                    stack.push_async_callback(self._feed.stop, work)
                async for batch in self._buffer.read_batches(self.options.idle):
                    yield batch
                    if self._acknowledges:
                        self._acknowledge(received.message for received in batch)

    @property
    def _acknowledges(self) -> bool:
        return bool(self.options.ack) if self._feed is None else self._feed.acknowledges

    def _acknowledge(self, messages: Iterable[Message]) -> None:
        replies = (message.reply for message in messages if message.metadata)
        if block := b"".join(encode_publish(reply, ACK) for reply in replies):
            self._connection.post(block)

    async def read_decoded(self, decode: Callable[[Message], T | None]) -> AsyncGenerator[list[T], None]:
        """Yield what `decode` makes of the messages of `read_batches`; it returns None for one to leave
        out."""
        async with aclosing(self.read_batches()) as batches:
            async for batch in batches:
                decoded = (decode(received.message) for received in batch)
                yield [item for item in decoded if item is not None]

    async def _subscribe(self, stack: AsyncExitStack) -> None:
        options, connection = self.options, self._connection
        if note := explain_wildcards(options.subjects):
            self._warn(f"jsctl: {note}")
        if options.match_replies:
            replies = f"{connection.settings.inbox_prefix or '_INBOX'}.>"
            await stack.enter_async_context(connection.receive(replies, self._handle_reply))
            self._announce(f"Matching replies with inbox prefix {replies}")
        for subject in options.subjects:
            handler = self._build_handler(subject)
            await stack.enter_async_context(connection.receive(subject, handler, queue=options.queue))
        await connection.settle()
        suffix = " with acknowledgement of JetStream messages" if options.ack else ""
        self._announce(f"Subscribing on {', '.join(options.subjects)}{suffix}")

    async def _open_feed(self, source: StreamSource) -> feed.Feed:
        options, api = self.options, self._api
        if api is None:
            raise ValueError("a stream is read through the JetStream API")
        name = source.name or await _find_stream(api, options.subjects)
        config = source.config or {}
        if not source.durable and source.config is None:
            config = (await streams.fetch_info(api, name))["config"]
        direct = source.direct
        if config.get("retention") in _WORK_QUEUES and not direct:
            # A consumer of ours would take messages that are meant for others.
            direct = True
            self._announce(f"Stream {name} is a work queue: reading it with direct gets")
        on_subjects = f" on {', '.join(options.subjects)}" if options.subjects else ""
        self._announce(f"Subscribing to JetStream Stream {name}{on_subjects}")
        kind = DirectFeed if direct else feed.ConsumerFeed
        feed_options = replace(options, stream=replace(source, name=name))
        return kind(api, feed_options, self._build_run_acceptor(), self._warn)

    def _build_handler(self, subscription: str) -> MessageHandler:
        limit = self.options.limit
        statistics, buffer, accept = self._statistics, self._buffer, self._build_acceptor(subscription)

        def handle(message: Message) -> None:
            if buffer.is_closed or (limit and statistics.messages >= limit):
                return
            if not message.data and message.header_block and message.status[0] == _CONTROL:
                feed.answer_flow_control(self._connection, message)  # which is not shown
                return
            accept(message)
            if limit and statistics.messages >= limit and not self._requests:
                buffer.close()

        return handle

    def _build_acceptor(self, subscription: str = "") -> Callable[[Message], bool]:
        """Return a function that adds a message to the buffer and returns whether the message counts.

        It is called for each message: constant values are looked up once, and `tuple.__new__` is three times
        as fast as `Received(...)`.
        """
        ignored, matches_replies = self.options.ignored, self.options.match_replies
        statistics, add, new_tuple = self._statistics, self._buffer.add, tuple.__new__

        def accept(message: Message) -> bool:
            subject = message.subject
            if ignored and any(matches(subject_filter, subject) for subject_filter in ignored):
                if self._acknowledges:
                    self._acknowledge([message])
                return False
            statistics.messages = number = statistics.messages + 1
            statistics.bytes += len(message.data)
            received = new_tuple(Received, (message, number, subscription or subject, None))
            if matches_replies and message.reply:
                self._requests[message.reply] = received
                self._buffer.reset_idle_time()
            else:
                add(received)
            return True

        return accept

    def _build_run_acceptor(self) -> feed.Sink:
        """Return a function that does so for messages of a stream that follow each other, without a step for
        each."""
        accept, statistics, extend = self._build_acceptor(), self._statistics, self._buffer.extend

        def accept_run(messages: Sequence[Message]) -> int:
            if self.options.ignored:
                return sum(map(accept, messages))
            run = ReceivedRun(messages, statistics.messages + 1)
            extend(run)
            statistics.messages += len(run)
            statistics.bytes += run.data_size
            return len(run)

        return accept_run

    def _handle_reply(self, message: Message) -> None:
        request = self._requests.pop(message.subject, None)
        if request is None:
            return
        self._buffer.add(request._replace(reply=message))
        limit = self.options.limit
        if limit and self._statistics.messages >= limit and not self._requests:
            self._buffer.close()

    def _watch(self, event: ConnectionEvent) -> bool:
        """Count events of the connection. Returns whether the event needs no further handler."""
        match event:
            case Disconnected():
                self._statistics.disconnections += 1
                if time.monotonic() - self._stalled_at < _BLAME:
                    self._statistics.slow += 1
                    self._warn(
                        f"jsctl: slow consumer: our output was blocked for {self._stalled_for:.0f}s,"
                        " and the server closed the connection"
                    )
            case Reconnected():
                self._statistics.reconnections += 1
                if self._feed is None:
                    self._warn("jsctl: messages published meanwhile are missed")
            case _:
                return self._buffer.close_on(event)
        return False


def receive_stored(
    api: Api,
    config: Json,
    subjects: Sequence[str],
    start: Json,
    *,
    limit: int = 0,
    headers_only: bool = False,
    to_end: bool = False,
) -> Receiver:
    """Return a receiver of a stream's messages as they are stored, through a consumer, that announces
    nothing. config: the stream's. start, limit, headers_only, to_end: see `StreamSource` and
    `ReceiveOptions`."""
    source = StreamSource(str(config["name"]), start, to_end=to_end, headers_only=headers_only, config=config)
    options = ReceiveOptions(subjects=subjects, stream=source, limit=limit)
    return Receiver(api.connection, options, api=api, warn=api.warn, announce=lambda text: None)


async def _find_stream(api: Api, subjects: Sequence[str]) -> str:
    """Return the only stream that stores the first subject. Raises NotFound, BadInput."""
    names = await streams.list_names(api, subjects[0])
    if not names:
        raise NotFound(f"no stream stores {subjects[0]}", f"{build_line('stream ls')} lists the streams")
    if len(names) > 1:
        raise BadInput(f"{subjects[0]} is in {', '.join(sorted(names))}", "name one with --stream")
    return names[0]
