"""Messages to people about a command's connection, repeated every few seconds while it is lost."""

import asyncio
import time
from collections.abc import Callable

from jsctl.nats.events import Closed, ConnectionEvent, Disconnected, Reconnected

REPORT_INTERVAL = 5.0
"""Seconds between two lines about a lost connection."""


class ConnectionReporter:
    """An event handler that writes a line for each event, and more lines as long as an outage lasts.

    say: writes a line for people.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._timer: asyncio.TimerHandle | None = None
        self._lost_at = 0.0  #: monotonic

    def __call__(self, event: ConnectionEvent) -> None:
        """Write lines about an event, and start or end the lines about an outage."""
        match event:
            case Closed():
                self.stop()
                return
            case Disconnected():
                self.stop()
                self._lost_at = time.monotonic()
                self._schedule_report()
            case Reconnected():
                self.stop()
        self._say(f"jsctl: {event.text}")

    def stop(self) -> None:
        """Stop writing lines about the present outage."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _schedule_report(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(REPORT_INTERVAL, self._report)

    def _report(self) -> None:
        seconds_lost = time.monotonic() - self._lost_at
        self._say(f"jsctl: still waiting for the connection, lost {seconds_lost:.0f}s ago; ctrl-C ends it")
        self._schedule_report()
