"""A buffer between handlers, which are called as messages are read, and the task that takes messages in
batches."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Sequence
from typing import Generic, TypeVar

from jsctl.nats.events import Closed, ConnectionEvent, PermissionDenied

E = TypeVar("E")


class EventBuffer(Generic[E]):
    """A buffer of events. Those added between two reads of the socket form one batch, which costs a tenth of
    what a queue costs for each event."""

    def __init__(self) -> None:
        self._batches: deque[Sequence[E]] = deque()
        self._open_batch: list[E] = []  #: the last of the batches, if events can be added to it
        self._wake = asyncio.Event()
        self._error: BaseException | None = None
        self.is_closed = False

    def add(self, event: E) -> None:
        """Add an event."""
        if not self._open_batch:
            self._batches.append(self._open_batch)
            self._wake.set()
        self._open_batch.append(event)

    def extend(self, events: Sequence[E]) -> None:
        """Add events that are a batch as they are."""
        self._batches.append(events)
        self._open_batch = []
        self._wake.set()

    def reset_idle_time(self) -> None:
        """Start the idle time of `read_batches` again, without an event."""
        self._wake.set()

    def close(self, error: BaseException | None = None) -> None:
        """End `read_batches` after the buffered events, with the error of the first call that has one."""
        self._error = self._error or error
        self.is_closed = True
        self._wake.set()

    def close_on(self, event: ConnectionEvent) -> bool:
        """Close when a connection ends or a subscription is denied. Return whether the event is handled: an
        EventHandler for `Connection.watching`."""
        match event:
            case Closed():
                self.close(event.error)
            case PermissionDenied(operation="subscription"):
                self.close(event.to_error())
                return True
        return False

    def close_after(self, work: "asyncio.Future[None]") -> None:
        """Close when `work` ends, with the error that it raises."""
        work.add_done_callback(lambda done: self.close(None if done.cancelled() else done.exception()))

    async def read_batches(self, idle: int = 0) -> AsyncIterator[Sequence[E]]:
        """Yield the events added since the last batch, in their order, until the buffer is closed.

        idle: ns without an event after which it ends, too; 0 for no limit. Raises the error of `close`.
        """
        seconds = idle / 1e9 if idle else None
        while True:
            if not self._batches and not self.is_closed:
                try:
                    async with asyncio.timeout(seconds):
                        await self._wake.wait()
                except TimeoutError:
                    return
            self._wake.clear()
            if self._batches:
                events = self._batches.popleft()
                if not self._batches:
                    self._open_batch = []
                yield events
            elif self.is_closed:
                break
        if self._error is not None:
            raise self._error
