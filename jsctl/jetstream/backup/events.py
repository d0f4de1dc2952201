"""Events, questions and progress of running backups, restores and copies.

The functions of this package print nothing. They pass events, questions and progress to an `Observer`;
`views/shared/transfers.py` turns them into sentences.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from jsctl.jetstream.api import Json
from jsctl.jetstream.message.data_loss import DataLoss

Advance = Callable[[int], object]
"""Called with the number of bytes or messages processed since the last call."""


class BackupStarted(NamedTuple):
    """The first bytes of a stream's snapshot are about to arrive."""

    stream: str
    messages: int
    bytes: int


class ServerCheckStarted(NamedTuple):
    """The server reads the whole stream before it sends anything."""

    stream: str


class RestoreStarted(NamedTuple):
    """A verified backup is about to be sent."""

    stream: str
    backed_up_stream: str
    path: Path
    bytes: int


class DigestMissing(NamedTuple):
    """A backup of another tool has no digests: only its format can be checked."""

    path: Path


class AccountBackupStarted(NamedTuple):
    """The streams of an account are about to be backed up."""

    streams: int
    bytes: int
    path: Path


class AccountRestoreStarted(NamedTuple):
    """The verified streams of an account's backup are about to be sent."""

    streams: int
    bytes: int
    path: Path


class CopyStarted(NamedTuple):
    """The first bytes of a copy are about to arrive."""

    stream: str
    messages: int
    bytes: int


class CopyResumed(NamedTuple):
    """An interrupted copy continues. bytes: still to be sent."""

    stream: str
    first_sequence: int
    bytes: int


class ComparisonResumed(NamedTuple):
    """A copy has all messages, and only its comparison was interrupted."""

    stream: str


class CopyRestarted(NamedTuple):
    """A copy begins again. reason: why it cannot continue.

    nothing_left: the server kept nothing of the interrupted copy. all_at_once: this time in one transfer.
    """

    stream: str
    reason: str = ""
    nothing_left: bool = False
    all_at_once: bool = False


class CopyInterrupted(NamedTuple):
    """A copy was interrupted, and what it transferred stays."""

    stream: str


Event = (
    BackupStarted
    | ServerCheckStarted
    | RestoreStarted
    | DigestMissing
    | AccountBackupStarted
    | AccountRestoreStarted
    | CopyStarted
    | CopyResumed
    | ComparisonResumed
    | CopyRestarted
    | CopyInterrupted
)


class ReplaceBackup(NamedTuple):
    """May a backup replace what exists at its target? existing: a description of it."""

    path: Path
    existing: str


class RemoveUnfinished(NamedTuple):
    """The question whether to remove a stream that an unfinished restore left behind.

    config: the stream's. last_seq: of its state. other_than: the stream that is being copied, when the
    unfinished one has messages that it lacks. newer: the messages that are newer than the backup, None if
    there are none.
    """

    stream: str
    config: Json
    messages: int
    last_seq: int
    other_than: str = ""
    newer: "Newer | None" = None

    @property
    def loses(self) -> bool:
        """Whether it holds messages that are not restored or copied again."""
        return bool(self.other_than or self.newer)


class Newer(NamedTuple):
    """Messages of a stream that are newer than a backup: their number, and the first and last sequence."""

    first: int
    last: int
    messages: int


class RemoveOtherCopy(NamedTuple):
    """The question whether to remove the remains of an unfinished copy of another stream."""

    stream: str
    messages: int


class ReduceStream(NamedTuple):
    """The question whether to give a stream the configuration of its backup. config: the stream's."""

    stream: str
    config: Json
    loss: DataLoss

    @property
    def loses(self) -> bool:
        """Whether messages are deleted."""
        return bool(self.loss)


class TakeMessages(NamedTuple):
    """The question whether a restored mirror or source may take messages out of a work queue. config: that of
    the work queue."""

    stream: str
    origin: str
    config: Json
    loss: DataLoss
    loses: bool = True


Question = ReplaceBackup | RemoveUnfinished | RemoveOtherCopy | ReduceStream | TakeMessages


class Phase(NamedTuple):
    """A part of the work with progress of its own. stream: empty for all streams of an account."""

    kind: Literal["transfer", "verify", "compare"]
    stream: str = ""


class Observer(Protocol):
    """The receiver of a backup's, restore's or copy's events, which also answers its questions."""

    def notify(self, event: Event) -> None:
        """Handle an event that needs no answer."""

    async def confirm(self, question: Question) -> None:
        """Return when the answer is yes. Raises Cancelled, and BadInput when nobody can be asked."""

    def progress(self, phase: Phase, total: int) -> AbstractContextManager[Advance]:
        """Return a context manager for a phase. total: messages for a comparison, else bytes."""
