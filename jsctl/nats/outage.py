"""Messages to people about a command's connection, repeated every few seconds while it is lost."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from jsctl.base.loops import call_later
from jsctl.base.units import pluralize
from jsctl.nats.events import Closed, ConnectionEvent, Disconnected, ErrorReported, Reconnected

if TYPE_CHECKING:
    import asyncio

REPORT_INTERVAL = 5.0
"""Seconds between two lines about a lost connection, and between two about the same error."""

_MAX_ERRORS = 10  #: lines about different errors in that time


class ConnectionReporter:
    """An event handler that writes a line for each event, and more lines as long as an outage lasts.

    say: writes a line for people.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._timer: asyncio.TimerHandle | None = None
        self._lost_at = 0.0  #: monotonic
        self._errors_since = 0.0  #: monotonic
        self._said: set[str] = set()  #: the errors since then
        self._unsaid = 0  #: errors since then that were not reported

    def __call__(self, event: ConnectionEvent) -> None:
        """Write lines about an event, and start or end the lines about an outage."""
        match event:
            case ErrorReported():
                self._report_error(event.text)
                return
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

    def _report_error(self, text: str) -> None:
        """Write a line about an error once in a while, as a server may send the same one without end."""
        now = time.monotonic()
        if now - self._errors_since > REPORT_INTERVAL:
            self._report_unsaid()
            self._errors_since = now
        if text in self._said or len(self._said) == _MAX_ERRORS:
            self._unsaid += 1
            return
        self._said.add(text)
        self._say(f"jsctl: {text}")

    def _report_unsaid(self) -> None:
        if self._unsaid:
            self._say(f"jsctl: the server sent {pluralize(self._unsaid, 'further error')}")
        self._said, self._unsaid = set(), 0

    def stop(self) -> None:
        """Stop writing lines about the present outage, and say how many errors were not reported."""
        self._report_unsaid()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _schedule_report(self) -> None:
        self._timer = call_later(REPORT_INTERVAL, self._report)

    def _report(self) -> None:
        seconds_lost = time.monotonic() - self._lost_at
        self._say(f"jsctl: still waiting for the connection, lost {seconds_lost:.0f}s ago; ctrl-C ends it")
        self._schedule_report()
