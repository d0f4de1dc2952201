"""Messages that a change, a purge or a removal deletes: how many, and how exactly that is known."""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from jsctl.base.units import format_bytes, pluralize
from jsctl.jetstream.api import Json


class Precision(StrEnum):
    """How exactly the number of messages is known."""

    EXACT = "exact"
    AT_LEAST = "at least"
    UP_TO = "up to"
    UNKNOWN = "unknown"


class DataLoss(NamedTuple):
    """What is deleted. precision: of the messages; exact: whether the bytes were counted, not estimated."""

    messages: int = 0
    bytes: int = 0
    precision: Precision = Precision.EXACT
    exact: bool = True

    def __bool__(self) -> bool:
        """Return whether anything may be deleted."""
        return self.messages > 0 or self.precision is Precision.UNKNOWN

    def __str__(self) -> str:
        """Return it for people: `990 messages (12 KiB)`."""
        is_unknown = self.precision is Precision.UNKNOWN
        return self.format_count() + ("" if is_unknown else f" ({self.format_size()})")

    def format_size(self) -> str:
        """Return the bytes for people: `about 12 KiB` if they are estimated."""
        is_about = not self.exact and self.precision in (Precision.EXACT, Precision.AT_LEAST)
        return ("about " if is_about else "") + format_bytes(self.bytes)

    def format_count(self) -> str:
        """Return the number for people: `at least 990 messages`."""
        if self.precision is Precision.UNKNOWN:
            return "an unknown number of messages"
        words = "" if self.precision is Precision.EXACT else f"{self.precision} "
        return f"{words}{pluralize(self.messages, 'message')}"

    def to_json(self) -> Json:
        """Return it for --json: `deletes_messages` (null: unknown), `deletes_bytes` and
        `deletes_precision`."""
        is_unknown = self.precision is Precision.UNKNOWN
        return {
            "deletes_messages": None if is_unknown else self.messages,
            "deletes_bytes": None if is_unknown else self.bytes,
            "deletes_precision": str(self.precision),
        }

    def exceeds(self, announced: "DataLoss") -> bool:
        """Return whether more would be deleted than was announced."""
        if announced.precision is Precision.UNKNOWN:
            return False
        if self.precision is Precision.AT_LEAST and announced.precision is not Precision.AT_LEAST:
            return True
        return self.precision is Precision.UNKNOWN or self.messages > announced.messages


NOTHING = DataLoss()
UNKNOWN = DataLoss(precision=Precision.UNKNOWN)


def add_losses(losses: Iterable[DataLoss]) -> DataLoss:
    """Return the sum of what is deleted, of different messages."""
    losses = [loss for loss in losses if loss]
    if len(losses) == 1:
        return losses[0]
    precisions = {loss.precision for loss in losses}
    order = (Precision.UNKNOWN, Precision.AT_LEAST, Precision.UP_TO)
    precision = next((each for each in order if each in precisions), Precision.EXACT)
    if precision is Precision.AT_LEAST:
        losses = [loss for loss in losses if loss.precision is not Precision.UP_TO]
    return DataLoss(
        sum(loss.messages for loss in losses),
        sum(loss.bytes for loss in losses),
        precision,
        all(loss.exact for loss in losses),
    )


def merge_losses(losses: Iterable[DataLoss], held: DataLoss) -> DataLoss:
    """Return what is deleted of a stream for several reasons, which may be about the same messages. held:
    what the stream holds."""
    losses = [loss for loss in losses if loss]
    total = add_losses(losses)
    if len(losses) < 2 or total.precision is Precision.UNKNOWN:
        return total
    if any(loss == held for loss in losses):
        return held
    if total.precision is Precision.AT_LEAST:
        return max(losses)._replace(precision=Precision.AT_LEAST)
    return min(total, held)._replace(precision=Precision.UP_TO, exact=False)


def measure_stream(info: Json) -> DataLoss:
    """Return what the removal of a stream deletes. info: the stream's."""
    return DataLoss(int(info["state"]["messages"]), int(info["state"]["bytes"]))
