"""What can go wrong, and the exit status that says so.

Every failure that a person sees is one line: what happened, then what to do about it.
"""

from enum import IntEnum


class ExitStatus(IntEnum):
    """Exit status of the `jsctl` process."""

    OK = 0
    FAILURE = 1  #: what was asked could not be done
    DIFFERENT = 2  #: `diff` found a difference
    NOT_FOUND = 3  #: the stream, consumer, context or message is not there
    UNREACHABLE = 4  #: no server, no JetStream in that domain, or no answer in time
    DENIED = 5  #: bad credentials, or the account lacks the permission
    USAGE = 64  #: the command line is wrong; nothing was tried
    INTERRUPTED = 130  #: ctrl-C


class JsctlError(Exception):
    """Base of every failure that is told to the user in one line.

    `hint` says what to do; it follows the message after a colon or a full stop.
    """

    status = ExitStatus.FAILURE

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


class BadInput(JsctlError):
    """A flag, file or answer that cannot be used."""

    status = ExitStatus.USAGE


class NotFound(JsctlError):
    """What was named does not exist."""

    status = ExitStatus.NOT_FOUND


class Unreachable(JsctlError):
    """No server could be reached, or none answered."""

    status = ExitStatus.UNREACHABLE


class NoResponders(Unreachable):
    """Nobody listens on the subject of a request."""


class RequestTimeout(Unreachable):
    """No answer came in time."""


class Denied(JsctlError):
    """Credentials were refused, or a permission is missing."""

    status = ExitStatus.DENIED


class MissingDependency(JsctlError):
    """An optional part (PySpark, Java, a nats-server binary) is not installed."""


class Cancelled(JsctlError):
    """The user answered no, or left a question with ctrl-C."""


_NO_JETSTREAM = frozenset({10035, 10039, 10076})


class ApiError(JsctlError):
    """A JetStream API error, as the server sent it (ADR-1).

    `code` is HTTP-like, `err_code` is the server's own number (server/errors.json).
    """

    def __init__(self, code: int, err_code: int, description: str, hint: str = "") -> None:
        super().__init__(f"{description} ({err_code or code})", hint)
        self.code = code
        self.err_code = err_code
        self.description = description

    @property
    def status(self) -> ExitStatus:  # type: ignore[override]
        if self.err_code in _NO_JETSTREAM:
            return ExitStatus.UNREACHABLE
        return ExitStatus.NOT_FOUND if self.code == 404 else ExitStatus.FAILURE
