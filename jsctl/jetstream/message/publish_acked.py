"""Publishing to streams: many messages ahead of their acks, and again those that were not stored.

A stream that changes its leader has none for a moment: the server answers "no responders", nothing is stored,
and the message is sent again. When the connection or the leader is lost, nobody knows what was stored; only
messages with a `Nats-Msg-Id` are sent again, as the stream stores these once.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress

from jsctl.base import units
from jsctl.base.units import pluralize
from jsctl.errors import Denied, JsctlError, RequestTimeout, Unreachable
from jsctl.jetstream.message.publish import Bursts, PublishedHandler, PublishTotals, parse_ack
from jsctl.jetstream.message.retry_policy import RetryPolicy, is_temporary, leaderless_error
from jsctl.nats.codec import publish_parts
from jsctl.nats.connection import Connection
from jsctl.nats.events import ConnectionEvent, Disconnected, PermissionDenied
from jsctl.nats.message import Message, OutgoingMessage

WINDOW = 1024
"""Maximum number of messages on their way to a stream without an ack."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 0.5
"""Seconds before a message is sent again."""

_REPORT_AFTER, _REPORT_INTERVAL = 1.0, 5.0
"""Seconds before the first line about a wait, and between two lines."""

_MAX_BLOCK = 0.05
"""Seconds without a turn of the event loop."""

_MAX_SUBJECTS = 1000
"""Maximum number of subjects that are remembered because a stream stores them."""


def _has_id(message: OutgoingMessage) -> bool:
    return b"nats-msg-id:" in message.header_block.lower()


async def publish_with_acks(
    connection: Connection,
    bursts: Bursts,
    totals: PublishTotals,
    handle_published: PublishedHandler,
    retry: RetryPolicy | None = None,
    *,
    window: int = 0,
    is_alone: bool = False,
) -> None:
    """Publish to streams, up to WINDOW messages ahead of their acks.

    Messages are sent in order; those that are sent again keep their order among themselves.

    retry: send messages again if there is no leader or the connection is lost, as long as acks arrive
    within the timeout; without it, the first failure is raised. window: maximum number of bytes of data
    without an ack before a burst is sent; 0 for no limit. is_alone: nothing else runs in the event loop,
    which gets a turn now and then; that saves a fifth of the processor time of large messages.

    When this raises, `totals.unsure` is the number of messages that may be stored without an ack. Raises
    NoResponders when no stream listens, ApiError for a refusal, RequestTimeout, Unreachable.
    """
    run = _Run(connection, totals, handle_published, retry, is_alone=is_alone)
    try:
        with connection.watching(run.watch):
            async with connection.receive(f"{run.inbox}.*", run.handle):
                async for burst in bursts:
                    for start in range(0, len(burst), WINDOW // 4):
                        await run.settle(WINDOW, window)
                        await run.send(burst[start : start + WINDOW // 4])
                await run.settle(0)
    finally:
        totals.unsure, totals.refused = run.count_waiting()


class _Run:
    """Messages on their way, by number."""

    def __init__(
        self,
        connection: Connection,
        totals: PublishTotals,
        handle_published: PublishedHandler,
        retry: RetryPolicy | None,
        *,
        is_alone: bool,
    ) -> None:
        self.inbox = connection.new_inbox()
        self._connection = connection
        self._totals = totals
        self._handle_published = handle_published
        self._retry = retry
        self._is_alone = is_alone
        self._number = 0
        self._waiting: dict[int, OutgoingMessage] = {}
        self._size = 0  #: bytes of their data
        self._to_resend: dict[
            int, JsctlError | None
        ] = {}  #: messages to send again, and why they were not stored
        self._attempts: Counter[int] = Counter()  #: beyond the first
        self._refusals: Counter[int] = Counter()  #: number of answers after which nothing was stored
        self._denied: Counter[str] = Counter()  #: refusals by the login's permissions, by subject
        self._taken_subjects: set[str] = set()  #: subjects that a stream stores
        self._failure: JsctlError | None = None
        self._is_lost = False
        self._changed = asyncio.Event()
        self._pause = _FIRST_PAUSE
        self._timeout = connection.settings.timeout / units.SECOND
        self._progress = self._reported_at = self._turn = time.monotonic()

    def count_waiting(self) -> tuple[int, int]:
        """Return the number of messages that may be stored although no ack arrived, and of those that the
        login may not publish. A server refuses each on its own."""
        unanswered = Counter(
            message.subject
            for number, message in self._waiting.items()
            if 1 + self._attempts[number] > self._refusals[number]
        )
        denied = (unanswered & self._denied).total()
        return unanswered.total() - denied, denied

    # -- events ------------------------------------------------------------------------------------------

    def handle(self, reply: Message) -> None:
        """Process an ack, or the error that came instead."""
        number = int(reply.subject.rpartition(".")[2])
        message = self._waiting.get(number)
        if message is None:
            return
        try:
            ack = parse_ack(message.subject, reply)
        except JsctlError as error:
            self._refusals[number] += 1
            if self._retry is not None and is_temporary(error):
                self._to_resend[number] = error
            else:
                self._failure = self._failure or error
        else:
            del self._waiting[number]
            self._size -= len(message.data)
            self._to_resend.pop(number, None)
            if self._retry is not None and len(self._taken_subjects) < _MAX_SUBJECTS:
                self._taken_subjects.add(message.subject)
            self._progress = time.monotonic()
            self._pause = _FIRST_PAUSE
            self._totals.messages += 1
            self._totals.bytes += len(message.data)
            self._totals.add(ack)
            self._handle_published(message, ack)
        self._changed.set()

    def watch(self, event: ConnectionEvent) -> bool:
        """Handle a connection event: a refused subject ends the run; messages on their way when a connection
        is lost may or may not be stored."""
        if isinstance(event, PermissionDenied) and event.operation == "publish":
            self._denied[event.subject] += 1
            self._failure = self._failure or event.to_error()
            self._changed.set()
            return True
        if isinstance(event, Disconnected):
            self._is_lost = True
            self._changed.set()
        return False

    # -- sending and waiting -----------------------------------------------------------------------------

    async def send(self, messages: Iterable[OutgoingMessage]) -> None:
        """Send messages for the first time."""
        if not self._waiting:
            self._progress = time.monotonic()
        first = self._number + 1
        for message in messages:
            self._connection.check_size(message)
            self._number += 1
            self._waiting[self._number] = message
            self._size += len(message.data)
        await self._transmit(range(first, self._number + 1))

    async def settle(self, limit: int, size: int = 0) -> None:
        """Wait until at most `limit` acks are missing, for messages of at most `size` bytes in all (0 for no
        limit), and nothing has to be sent again. Raises the error of a message."""
        while True:
            if self._failure:
                if isinstance(self._failure, Denied) and not self._is_lost:
                    with suppress(JsctlError):
                        await self._connection.flush()  # the refusals of the others are there, too
                raise self._failure
            if self._is_lost:
                await self._reconnect()
            elif self._to_resend:
                await self._send_again()
            elif len(self._waiting) <= limit and not self._size > size > 0:
                return
            else:
                await self._wait()

    async def _transmit(self, numbers: Sequence[int]) -> None:
        block: list[bytes] = []
        for number in numbers:
            message = self._waiting[number]
            reply = f"{self.inbox}.{number}"
            block += publish_parts(message.subject, message.data, reply, message.header_block)
        try:
            if self._is_alone:
                await self._connection.send_now(*block)
                await self._take_turn()
            elif len(block) > len(numbers):  # large messages are in several parts
                await self._connection.send(*block)
            else:
                await self._connection.send(b"".join(block))
        except Unreachable:
            if self._retry is None:
                raise
            self._is_lost = True

    async def _wait(self) -> None:
        """Wait for an answer; when none arrives for a while, mark the messages with an id to be sent
        again."""
        self._changed.clear()
        nap = self._compute_seconds_left()
        if self._retry is not None:
            nap = min(nap, self._timeout / 4)
        if self._is_alone and nap > 0 and self._connection.read_now(nap):
            await self._take_turn()
            return
        try:
            async with asyncio.timeout(max(nap, 0)):
                await self._changed.wait()
        except TimeoutError:
            if self._compute_seconds_left() <= 0:
                raise self._build_timeout_error() from None
            self._to_resend |= {n: None for n, message in self._waiting.items() if _has_id(message)}
            self._report_wait("waiting for acks", len(self._waiting))

    async def _reconnect(self) -> None:
        """Wait for another connection, and mark all messages to be sent again.

        Raises Unreachable when some have no id, as they may be stored already.
        """
        lost = [message for number, message in self._waiting.items() if number not in self._to_resend]
        without_id = sum(not _has_id(message) for message in lost)
        if self._retry is None or without_id:
            text = f"lost the connection to {self._connection.url}"
            if not lost:
                raise Unreachable(text)
            count = pluralize(len(lost), "message")
            raise Unreachable(
                f"{text} before the acks of {count}, which may be stored",
                "with -H 'Nats-Msg-Id: {{ID}}', jsctl sends them again, and the stream stores each once",
            )
        await self._connection.wait_until_connected()
        self._is_lost = False
        self._progress = time.monotonic()
        self._to_resend |= dict.fromkeys(self._waiting)

    async def _send_again(self) -> None:
        """Send the first message again, and once a stream has stored it, the others."""
        first = min(self._to_resend)
        error = self._to_resend[first]
        subject = self._waiting[first].subject
        if error is not None:
            if self._retry is not None and subject not in self._taken_subjects:
                await self._retry.check(subject, error)
                self._taken_subjects.add(subject)
            if self._compute_seconds_left() <= 0:
                raise leaderless_error(subject, self._timeout, error)
            self._report_wait(f"no stream stores {subject} at the moment, trying again", len(self._to_resend))
            await asyncio.sleep(min(self._pause, max(self._compute_seconds_left(), 0)))
            self._pause = min(self._pause * 2, _LONGEST_PAUSE)
        await self._retransmit([first])
        while (
            first in self._waiting and first not in self._to_resend and not (self._is_lost or self._failure)
        ):
            await self._wait()
        if first not in self._waiting:
            await self._retransmit(sorted(self._to_resend))

    async def _retransmit(self, numbers: list[int]) -> None:
        waiting = [number for number in numbers if number in self._waiting]
        self._attempts.update(waiting)
        for number in numbers:
            self._to_resend.pop(number, None)
        await self._transmit(waiting)

    # -- reports to people ---------------------------------------------------------------------------------

    async def _take_turn(self) -> None:
        """Give the event loop a turn if it has had none for a while: it notices signals and lost
        connections."""
        if (at := time.monotonic()) - self._turn > _MAX_BLOCK:
            self._turn = at
            await asyncio.sleep(0)

    def _compute_seconds_left(self) -> float:
        """Return the seconds until the timeout."""
        return self._progress + self._timeout - time.monotonic()

    def _report_wait(self, reason: str, count: int) -> None:
        """Write a line about the reason for a wait, at intervals."""
        now = time.monotonic()
        if (
            self._retry is None
            or now - self._progress < _REPORT_AFTER
            or now - self._reported_at < _REPORT_INTERVAL
        ):
            return
        self._reported_at = now
        self._retry.say(f"jsctl: {reason}: {pluralize(count, 'message')}; ctrl-C ends it")

    def _build_timeout_error(self) -> RequestTimeout:
        subject = next(iter(self._waiting.values())).subject
        count = len(self._waiting)
        return RequestTimeout(
            f"no ack for {pluralize(count, 'message')}, the first on {subject}",
            "they may have been stored anyway; --timeout waits longer",
        )
