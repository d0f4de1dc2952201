"""Events of an open connection: lost, made again, closed, errors, refused subjects."""

from collections.abc import Callable

from jsctl.errors import Denied, JsctlError, Unreachable

# Plain classes: dataclasses would cost every command that connects 3 ms.


class ConnectionEvent:
    """An event of a connection. text: a sentence for people, without a secret in it."""

    def __init__(self, text: str) -> None:
        self.text = text


class Disconnected(ConnectionEvent):
    """The connection was lost; a new one is being made if reconnecting is on."""


class Reconnected(ConnectionEvent):
    """The connection was made again. What was published meanwhile did not arrive."""


class Closed(ConnectionEvent):
    """The connection is closed for good. error: why."""

    def __init__(self, text: str, error: JsctlError | None = None) -> None:
        super().__init__(text)
        self.error = error or Unreachable(text)


class ErrorReported(ConnectionEvent):
    """An error that does not end the connection: the server reports it, or an attempt to connect again."""


class PermissionDenied(ErrorReported):
    """The server refuses a subject. operation: `publish` or `subscription`. inbox: the prefix of inboxes."""

    def __init__(self, text: str, operation: str, subject: str, inbox: str = "_INBOX") -> None:
        super().__init__(text)
        self.operation = operation
        self.subject = subject
        self.inbox = inbox

    def to_error(self) -> Denied:
        """Return the error to raise when that subject was needed."""
        return denied_error(self.operation, self.subject, self.inbox)


def denied_error(operation: str, subject: str, inbox: str = "_INBOX") -> Denied:
    """Return the error for a subject that the login may not use, with the words that scripts look for.

    inbox: the prefix of inboxes.
    """
    if operation == "subscription" and subject.startswith(f"{inbox}."):
        return Denied(
            f"not allowed to subscribe to {inbox}.>, where replies arrive (Permissions Violation)",
            "ask for that permission, or name a permitted prefix with --inbox-prefix",
        )
    verb = "subscribe" if operation == "subscription" else "publish"
    return Denied(f"not allowed to {verb} to {subject} (Permissions Violation)", "ask for that permission")


EventHandler = Callable[[ConnectionEvent], bool | None]
"""Called with each event. Returns True when it has handled the event: nobody else then reports it."""
