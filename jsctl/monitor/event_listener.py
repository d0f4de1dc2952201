"""Listening for events: on the subjects that servers publish them to, or in a stream that stores them."""

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import NamedTuple

from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.message import feed
from jsctl.jetstream.message.buffer import EventBuffer
from jsctl.jetstream.message.receive_options import ReceiveOptions, StreamSource
from jsctl.monitor.events import domain_differs, parse
from jsctl.nats.connection import Connection
from jsctl.nats.events import Closed, ConnectionEvent, PermissionDenied, Reconnected
from jsctl.nats.message import Message


@dataclass(frozen=True, slots=True)
class EventSelection:
    """The events to listen for.

    subjects: where they are published. stream: the stream to read instead, from `start` on, which is a
    consumer's delivery policy. pattern: matches the text of an event. limit: how many, 0 for all; messages
    that are not events do not count. idle: ns without an event after which listening ends, 0 for no limit.
    """

    subjects: Sequence[str] = ()
    stream: str = ""
    start: Json = field(default_factory=dict)
    pattern: re.Pattern[str] = re.compile("")
    limit: int = 0
    idle: int = 0


class ServerEvent(NamedTuple):
    """An event. document: its JSON; None if `data` is not an event."""

    subject: str
    data: bytes
    document: Json | None


class EventListener:
    """One run of listening: iterate over `batches`; `stop` ends them in order.

    warn: called with a sentence about a problem that does not end listening. announce: called with a sentence
    about each subject or stream.
    """

    def __init__(
        self,
        connection: Connection,
        selection: EventSelection,
        *,
        api: Api | None = None,
        warn: Callable[[str], None],
        announce: Callable[[str], None],
    ) -> None:
        self.selection = selection
        self._connection = connection
        self._api = api
        self._warn = warn
        self._announce = announce
        self._buffer: EventBuffer[ServerEvent] = EventBuffer()
        self._events = 0  #: those that are not malformed
        self._subscriptions = 0
        self._refusals = 0  #: subscriptions that the server refused

    @property
    def missing(self) -> int:
        """How many events are missing to reach the limit."""
        return max(self.selection.limit - self._events, 0)

    def stop(self) -> None:
        """End `batches` after what has already been received."""
        self._buffer.close()

    async def batches(self) -> AsyncGenerator[Sequence[ServerEvent], None]:
        """Yield events as they are received.

        Raises Denied when the server refuses all subscriptions, NotFound for a missing stream, Unreachable
        when the connection is closed for good.
        """
        with self._connection.watching(self._watch):
            async with AsyncExitStack() as stack:
                if self.selection.stream:
                    reader = self._create_reader()
                    work = asyncio.ensure_future(reader.run())
                    self._buffer.close_after(work)
                    stack.push_async_callback(reader.stop, work)
                else:
                    await self._subscribe(stack)
                async for batch in self._buffer.read_batches(self.selection.idle):
                    yield batch

    async def _subscribe(self, stack: AsyncExitStack) -> None:
        self._subscriptions = len(self.selection.subjects)
        for subject in self.selection.subjects:
            note = ", which only users of the system account get" if subject.startswith("$SYS.") else ""
            self._announce(f"Listening for events on {subject}{note}")
            await stack.enter_async_context(self._connection.receive(subject, self._handle))
        await self._connection.settle()

    def _create_reader(self) -> feed.Feed:
        if self._api is None:
            raise ValueError("a stream is read through the JetStream API")
        self._announce(f"Listening for events in stream {self.selection.stream}")
        options = ReceiveOptions(stream=StreamSource(self.selection.stream, self.selection.start))

        def accept(messages: Sequence[Message]) -> int:
            for message in messages:
                self._handle(message)
            return len(messages)

        return feed.ConsumerFeed(self._api, options, accept, self._warn)

    def _handle(self, message: Message) -> None:
        selection = self.selection
        if self._buffer.is_closed or not selection.pattern.search(message.data.decode(errors="replace")):
            return
        document = parse(message.data)
        if document is not None:
            if domain_differs(document, self._connection.settings.js_domain):
                return
            self._events += 1
        self._buffer.add(ServerEvent(message.subject, message.data, document))
        if selection.limit and self._events >= selection.limit:
            self._buffer.close()

    def _watch(self, event: ConnectionEvent) -> bool:
        """Return whether the event needs no further handler."""
        match event:
            case Closed():
                self._buffer.close(event.error)
            case Reconnected() if not self.selection.stream:
                self._warn("jsctl: events published while the connection was down are missing")
            case PermissionDenied(operation="subscription"):
                self._refusals += 1
                if self._refusals >= self._subscriptions:
                    self._buffer.close(event.to_error())
                    return True
        return False
