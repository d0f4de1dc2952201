"""What happens to a connection while it is open."""

from collections.abc import Callable
from dataclasses import dataclass

from jsctl.errors import Denied


@dataclass(frozen=True, slots=True)
class ConnectionEvent:
    """Something that happened. text: a sentence for people, without a secret in it."""

    text: str


class Disconnected(ConnectionEvent):
    """The connection was lost; a new one is being made where that is wanted."""


class Reconnected(ConnectionEvent):
    """There is a connection again. What was published meanwhile did not arrive."""


class Closed(ConnectionEvent):
    """The connection is closed for good."""


class ErrorReported(ConnectionEvent):
    """The server or the client reports an error that does not end the connection."""


@dataclass(frozen=True, slots=True)
class PermissionDenied(ErrorReported):
    """The server refuses a subject. operation: `publish` or `subscription`."""

    operation: str
    subject: str

    def error(self) -> Denied:
        """The error to raise where that subject was needed."""
        return Denied(f"the server refuses: {self.text}", "ask for that permission")


EventHandler = Callable[[ConnectionEvent], bool | None]
"""Called with each event. True says that it is dealt with: nobody else reports it."""
