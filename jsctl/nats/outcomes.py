"""What comes of bytes that `protocol` receives: events, and replies to requests."""

import re
from collections.abc import Callable
from typing import NamedTuple

from jsctl.errors import Denied, JsctlError, NoResponders, RequestTimeout
from jsctl.nats.codec import Violation
from jsctl.nats.message import Message, is_no_responders

_OPERATION = r"\$JS\.(?:.+?\.)?API\.(?:(STREAM|CONSUMER|DIRECT)\.(MSG\.)?(\w+)|INFO$)"
"""What a request of JetStream does; names of streams and consumers follow it."""


class ConnectionLost(Exception):
    """The connection ended; its requests must be sent again on another one."""


class EndedByServer(ConnectionLost):
    """The server ended the connection with an error: it may do so again."""


class TlsNeeded(NamedTuple):
    """The driver must make the connection a TLS connection, and then call `continue_with_tls`."""


class LoggedIn(NamedTuple):
    """The server has accepted the login, and knows all subscriptions."""


class Refused(NamedTuple):
    """The server refuses a subject that no request and no new subscription waits for. text: its words. error:
    ours for it."""

    text: str
    violation: Violation
    error: Denied


class Failed(NamedTuple):
    """The connection cannot go on. error: ConnectionLost, or while connecting OSError, if another attempt may
    succeed; otherwise JsctlError."""

    error: Exception


Event = TlsNeeded | LoggedIn | Failed


class Request:
    """A request, and its reply or error. frame: to be sent. on_end: called when either is there."""

    def __init__(self, subject: str, reply_subject: str, frame: bytes, on_end: Callable[[], object]) -> None:
        self.subject = subject
        self.reply_subject = reply_subject
        self.frame = frame
        self._reply: Message | None = None
        self._error: JsctlError | None = None
        self._on_end = on_end

    @property
    def is_ended(self) -> bool:
        """Whether there is a reply or an error."""
        return self._reply is not None or self._error is not None

    @property
    def is_unheard(self) -> bool:
        """Whether nobody subscribes to the subject."""
        return self._reply is not None and is_no_responders(self._reply)

    def end(self, reply: Message | None, error: JsctlError | None = None) -> None:
        """Set the reply or the error."""
        self._reply, self._error = reply, error
        self._on_end()

    def get_reply(self, timeout: float) -> Message:
        """Return the reply. timeout: seconds that were waited for it. Raises RequestTimeout, NoResponders,
        Denied, Unreachable."""
        if self._error:
            raise self._error
        if self._reply is None:
            raise RequestTimeout(f"no answer on {self.subject} in {timeout:g}s")
        if self.is_unheard:
            raise NoResponders(f"nobody answers on {self.subject}")
        return self._reply


def only_reads(subject: str) -> bool:
    """Return whether a request of JetStream changes nothing, so that it may be repeated."""
    found = re.match(_OPERATION, subject)
    return found is not None and found[3] in (None, "INFO", "LIST", "NAMES", "GET")
