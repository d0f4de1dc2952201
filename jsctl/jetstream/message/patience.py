"""What is published again: what no stream takes at the moment, because its stream has no leader."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from jsctl.errors import ApiError, JsctlError, NoJetStream, NoResponders
from jsctl.jetstream.api import Api
from jsctl.nats.codes import ErrorCode


class Patience(NamedTuple):
    """What publishing again needs.

    is_taken: asks JetStream whether a stream takes a subject; None when nobody says so now. say: writes a
    line for people.
    """

    is_taken: Callable[[str], Awaitable[bool | None]]
    say: Callable[[str], None]

    async def check(self, subject: str, error: JsctlError) -> None:
        """Raise the error when no stream takes the subject, and waiting helps nobody."""
        if isinstance(error, NoResponders) and await self.is_taken(subject) is False:
            raise error


def patience(api: Api, say: Callable[[str], None]) -> Patience:
    """Return the patience of commands. say: writes a line for people."""

    async def is_taken(subject: str) -> bool | None:
        try:
            answer = await api.call("STREAM.NAMES", {"subject": subject})
        except (NoResponders, NoJetStream):
            return False
        except JsctlError:
            return None
        return bool(answer.get("streams"))

    return Patience(is_taken, say)


def is_temporary(error: JsctlError) -> bool:
    """Whether a message is not stored, and may be when it is sent again: its stream has no leader."""
    if isinstance(error, NoResponders):
        return True
    codes = (ErrorCode.CLUSTER_NOT_AVAIL, ErrorCode.CLUSTER_NOT_LEADER, ErrorCode.CLUSTER_NOT_ACTIVE)
    return isinstance(error, ApiError) and error.err_code in codes


def still_without_leader(subject: str, timeout: float, error: JsctlError) -> JsctlError:
    """Return the error to raise when the time is over. timeout: seconds."""
    if not isinstance(error, NoResponders):
        return error
    return NoResponders(
        f"no stream took {subject} for {timeout:g}s",
        "its stream may have no leader: jsctl stream info; --timeout tries longer",
    )
