"""One run of publishing, with or without acks, that reports each message."""

import contextlib
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Literal, NamedTuple

from jsctl.base.loops import is_stepped
from jsctl.errors import JsctlError
from jsctl.jetstream.api import Json
from jsctl.jetstream.message.publish import Bursts, PublishTotals, publish
from jsctl.jetstream.message.retry_policy import RetryPolicy
from jsctl.nats.connection import Connection
from jsctl.nats.message import OutgoingMessage

Mode = Literal[
    "plain",  #: without acks
    "acked",  #: each message is stored by a stream
    "atomic",  #: a stream stores all messages or none
]


class Published(NamedTuple):
    """A message that was published. ack: the stream's, when there is one."""

    message: OutgoingMessage
    ack: Json | None


class Publisher:
    """A publisher of bursts of messages: iterate over `read_batches`.

    reports: whether each message is yielded; one without an ack is confirmed by the server first. retry:
    for messages to a stream; see `publish_with_acks`.
    """

    def __init__(
        self,
        connection: Connection,
        bursts: Bursts,
        mode: Mode,
        *,
        reports: bool,
        retry: RetryPolicy | None = None,
    ) -> None:
        self.totals = PublishTotals()
        self.batch_ack: Json | None = None  #: of an atomic batch
        self.reports = reports
        self._connection = connection
        self._bursts = bursts
        self._retry = retry
        self.mode = mode
        self._advance: Callable[[int], None] = lambda messages: None
        self._report: Callable[[Published], None] = lambda published: None
        self._started_at = self._ended_at = 0

    @property
    def seconds(self) -> float:
        """The duration of publishing in seconds."""
        return (self._ended_at - self._started_at) / 1e9

    async def read_batches(self, advance: Callable[[int], None]) -> AsyncGenerator[Sequence[Published], None]:
        """Publish everything; yield what was published, if that must be reported.

        advance: called with the number of messages published since the last call. Raises Denied, BadInput,
        Unreachable, NoResponders, RequestTimeout, and ApiError when a stream refuses a message.
        """
        self._advance = advance
        self._started_at = time.perf_counter_ns()
        try:
            async for batch in self._publish_first() if is_stepped() else self._publish_meanwhile():
                yield batch
        finally:
            self._ended_at = time.perf_counter_ns()

    async def _publish_first(self) -> AsyncGenerator[Sequence[Published], None]:
        """Publish, then yield."""
        batch: list[Published] = []
        self._report = batch.append
        await self._publish()
        yield batch

    async def _publish_meanwhile(self) -> AsyncGenerator[Sequence[Published], None]:
        """Yield while more is published."""
        import asyncio

        from jsctl.jetstream.message.buffer import EventBuffer

        buffer = EventBuffer[Published]()
        self._report = buffer.add
        work = asyncio.ensure_future(self._publish())
        buffer.close_after(work)
        try:
            async for batch in buffer.read_batches():
                yield batch
        finally:
            work.cancel()
            with contextlib.suppress(asyncio.CancelledError, JsctlError):
                await work

    async def _publish(self) -> None:
        match self.mode:
            case "atomic":
                from jsctl.jetstream.message.publish_atomic import publish_atomically

                messages = [message async for burst in self._bursts for message in burst]
                self.batch_ack = await publish_atomically(self._connection, messages, self._retry)
                self.totals.messages = len(messages)
            case "acked":
                from jsctl.jetstream.message.publish_acked import publish_with_acks

                await publish_with_acks(
                    self._connection, self._bursts, self.totals, self._handle_published, self._retry
                )
            case "plain":
                await publish(
                    self._connection,
                    self._bursts,
                    self.totals,
                    self._handle_sent,
                    confirm=self.reports,
                )

    def _handle_sent(self, messages: Sequence[OutgoingMessage]) -> None:
        self._advance(len(messages))
        if self.reports:
            for message in messages:
                self._report(Published(message, None))

    def _handle_published(self, message: OutgoingMessage, ack: Json | None) -> None:
        self._advance(1)
        if self.reports:
            self._report(Published(message, ack))
