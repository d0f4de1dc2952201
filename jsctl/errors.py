"""The errors of jsctl, and the exit status of each.

Every error that users see is one line: what is wrong, then what to do.
"""

import contextlib
import errno
from collections.abc import Awaitable, Callable, Iterator, Sequence
from enum import IntEnum
from typing import Any

DISK_ERRORS = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO))
"""What a system says of a disk that takes no more."""


class ExitStatus(IntEnum):
    """Exit status of the `jsctl` process. meaning: its description in the manual."""

    meaning: str

    def __new__(cls, value: int, meaning: str = "") -> "ExitStatus":
        status = int.__new__(cls, value)
        status._value_ = value
        status.meaning = meaning
        return status

    OK = (
        0,
        "done, also by ctrl-C where a command runs until then; or the answer was no, and nothing was changed",
    )
    FAILURE = 1, "the command failed"
    DIFFERENT = 2, "`diff` or `edit --dry-run` found a difference"
    NOT_FOUND = 3, "the stream, consumer, context or message does not exist"
    UNREACHABLE = (
        4,
        "no server, no JetStream in that domain, no reply in time, or a `wait` that ended at its --timeout",
    )
    DENIED = 5, "the login was refused, or a permission is missing"
    USAGE = 64, "the command line is not valid; nothing was done"
    INTERRUPTED = 130, "stopped with ctrl-C, also at a question"
    TERMINATED = 143, "stopped by SIGTERM"


class JsctlError(Exception):
    """Base of every error that users see as one line. hint: what to do; it follows the message."""

    status = ExitStatus.FAILURE

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


class BadInput(JsctlError):
    """A flag, a file or an answer is not valid."""

    status = ExitStatus.USAGE


class BadInputs(BadInput):
    """Several values of a file are not valid; the line names them all."""

    def __init__(self, errors: Sequence[BadInput]) -> None:
        super().__init__("; ".join(dict.fromkeys(map(str, errors))))
        self.errors = tuple(errors)


MAX_ERRORS = 20
"""Maximum number of errors that are collected from a file."""


class FileWarning(UserWarning):
    """Something in a file that is not as it should be, and makes no difference."""


@contextlib.contextmanager
def collecting(errors: list[BadInput]) -> Iterator[None]:
    """Add a BadInput of the block to `errors` instead of raising it; raise all once there are too many."""
    try:
        yield
    except BadInput as error:
        errors.extend(error.errors if isinstance(error, BadInputs) else [error])
        if len(errors) >= MAX_ERRORS:
            raise_all(errors)


def raise_all(errors: Sequence[BadInput]) -> None:
    """Raise BadInput for errors that were collected; return if there are none."""
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise BadInputs(errors[:MAX_ERRORS])


class NotFound(JsctlError):
    """Something that was named does not exist."""

    status = ExitStatus.NOT_FOUND


class Unreachable(JsctlError):
    """No server can be reached, or none replies."""

    status = ExitStatus.UNREACHABLE


class NoConnection(Unreachable):
    """Nothing accepts a connection at the address of a server."""


class NoResponders(Unreachable):
    """Nobody subscribes to the subject of a request."""


class RequestTimeout(Unreachable):
    """No reply arrived in time."""


class MalformedAnswer(JsctlError):
    """An answer does not have the expected form. reason: what is wrong with it."""

    def __init__(self, subject: str, reason: str) -> None:
        super().__init__(f"the server's answer on {subject} is malformed: {reason}")


class Denied(JsctlError):
    """The login was refused, or a permission is missing."""

    status = ExitStatus.DENIED


class LoginRefused(Denied):
    """A server refuses a login."""


class MissingDependency(JsctlError):
    """An optional part (PySpark, Java, a nats-server binary) is not installed."""


class Cancelled(JsctlError):
    """The user pressed ctrl-C at a question."""

    status = ExitStatus.INTERRUPTED


class Declined(Cancelled):
    """The user answered no, and nothing was changed."""

    status = ExitStatus.OK


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
        return ExitStatus.NOT_FOUND if self.code == 404 else ExitStatus.FAILURE


class MissingName(ApiError):
    """A stream or consumer that was named does not exist.

    list_names: fetches the names that exist.
    """

    def __init__(
        self,
        err_code: int,
        text: tuple[str, str],
        name: str,
        list_names: Callable[[], Awaitable[Sequence[str]]],
    ) -> None:
        """Create the error from what is wrong and what to do, as `Noun.missing` returns them."""
        super().__init__(404, err_code, *text)
        self.name = name
        self.list_names = list_names


class NoJetStream(ApiError):
    """The server has no JetStream for this login."""

    @property
    def status(self) -> ExitStatus:  # type: ignore[override]
        return ExitStatus.UNREACHABLE


class CommandError(JsctlError):
    """A command line that did not end with status 0.

    message, hint: what is wrong and what to do, without logins; `str` has both. status: the exit status that
    `jsctl` would have. err_code: JetStream's own number (server/errors.json), None if the error is not its.
    code: HTTP-like, with it. data: what the line answered nevertheless, as `diff` and `doctor` do.
    """

    def __init__(
        self,
        message: str,
        hint: str = "",
        *,
        status: int = ExitStatus.FAILURE,
        err_code: int | None = None,
        code: int | None = None,
        data: object = None,
    ) -> None:
        super().__init__(message, hint)
        self.status = int(status)  # type: ignore[assignment]  # that of `server check` has another meaning
        self.err_code = err_code
        self.code = code
        self.data: Any = data


class DryRun(Exception):
    """The end of a verb with --dry-run, before it changes anything. result: what it would do."""

    def __init__(self, result: object) -> None:
        super().__init__()
        self.result = result
