"""One range of a stream: what any way of reading it must settle. Attempts and reconnects, what is missing and
why, and whether the stream is still the one that was planned for.
"""

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from jsctl.errors import ApiError, JsctlError, RequestTimeout, Unreachable
from jsctl.jetstream.api import Json
from jsctl.nats.blocking import ConnectionLost
from jsctl.spark.source.connection import StreamConnection
from jsctl.spark.source.failures import format_lost, format_messages, warn_of_loss
from jsctl.spark.source.replies import count_before
from jsctl.units import SECOND

if TYPE_CHECKING:
    import pyarrow as pa


class DataLoss(JsctlError):
    """Messages that were to be read are gone, and the options say to fail."""


class ReadJob(NamedTuple):
    """What one task reads.

    start, end: sequences, half open. created: the stream's creation time; another one is another stream.
    prefix: of the API. subjects: only messages on these, empty for all. batch: messages a request.
    max_bytes: of payload a request. timeout: ns without an answer. retries: attempts without progress.
    """

    stream: str
    created: str
    start: int
    end: int
    prefix: str = "$JS.API"
    subjects: tuple[str, ...] = ()
    batch: int = 1000
    max_bytes: int = 4 << 20
    timeout: int = 10 * SECOND
    retries: int = 5
    fail_on_loss: bool = True
    fail_on_deleted: bool = False


class RangeReader:
    """Iterate once, for batches of messages.SCHEMA in the order of their sequences.

    at: the next sequence to hand out. deleted, lost: messages that were not there, known when a batch has
    been taken; with a subject filter deletions cannot be told from other subjects and are not counted, and
    what was lost may have been on others.
    Raises DataLoss, Unreachable, Denied, ApiError.
    """

    def __init__(self, job: ReadJob, connect: Callable[[], StreamConnection]) -> None:
        self.job = job
        self.at = job.start
        self.deleted = 0
        self.lost = 0
        self._connect = connect
        self._connection: StreamConnection | None = None
        self._failures = 0

    def __iter__(self) -> "Iterator[pa.RecordBatch]":
        try:
            self._with_retries(self._check_stream)
            while self.at < self.job.end:
                before = self.at
                batch = self._with_retries(self.read_batch)
                if self.at > before:
                    self._failures = 0
                if batch:
                    yield batch
            self._with_retries(self._check_stream)
        finally:
            self.finish()
            self._disconnect()
            if self.lost and not self.job.fail_on_loss:
                job = self.job
                warn_of_loss(job.stream, self.lost, job.start, job.end, bool(job.subjects))

    def read_batch(self, connection: StreamConnection) -> "pa.RecordBatch | None":
        """Read on from `at`, and move it."""
        raise NotImplementedError

    def on_connection_lost(self) -> "pa.RecordBatch | None":
        """The connection is lost: forget what was asked on it, and return what is sure of its answers."""
        return None

    def finish(self) -> None:
        """Remove what was made on the server."""

    def _with_retries(
        self, step: "Callable[[StreamConnection], pa.RecordBatch | None]"
    ) -> "pa.RecordBatch | None":
        while True:
            try:
                if self._connection is None:
                    self._connection = self._connect()
                    self._connection.watch(self.job.stream)
                return step(self._connection)
            except (ConnectionLost, TimeoutError, Unreachable) as error:
                sure = self.on_connection_lost()
                self._disconnect()
                if sure is not None:
                    return sure
                self.count_failure(error)
                # Soon at first; five times outlast the choice of another leader, which takes up to 9 s.
                time.sleep(min(0.2 * 4 ** (self._failures - 1), 5))

    def count_failure(self, error: Exception) -> None:
        """Count an attempt that brought nothing. Raises when there were too many."""
        self._failures += 1
        if self._failures > self.job.retries:
            if isinstance(error, JsctlError):
                raise error
            raise Unreachable(
                f"no answer for {self.job.stream} from sequence {self.at} on", str(error)
            ) from None

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def call(self, connection: StreamConnection, verb: str, body: Json | None = None) -> Json:
        """A JetStream request; `verb` is what follows the prefix."""
        subject = f"{self.job.prefix}.{verb}"
        try:
            return connection.call(subject, body, self.job.timeout)
        except RequestTimeout as error:
            raise Unreachable(error.message, f"reading needs the right to publish to {subject}") from None

    def next_sequence_of_leader(self, connection: StreamConnection, sequence: int) -> int:
        """The first sequence from `sequence` on that the stream's leader has, of what is read; 0 for none."""
        found = (self._next_on(connection, sequence, subject) for subject in self.job.subjects or (">",))
        return min(filter(None, found), default=0)

    def _next_on(self, connection: StreamConnection, sequence: int, subject: str) -> int:
        body = {"seq": sequence, "next_by_subj": subject}
        try:
            found = self.call(connection, f"STREAM.MSG.GET.{self.job.stream}", body)
        except ApiError as error:
            if error.err_code == 10037:  # no message found
                return 0
            raise
        return int(found["message"]["seq"])

    def count_missing(self, connection: StreamConnection, batch: "pa.RecordBatch", reached: int) -> None:
        """The messages from `at` until `reached` that are not in the batch: deleted ones, or ones that fell
        off the stream's head before they were read? Raises ConnectionLost when they are neither."""
        job = self.job
        missing = reached - self.at - len(batch)
        if not missing:
            return
        state = self._info(connection)["state"]
        first = state["first_seq"]
        gone = min(first, reached) - self.at - count_before(batch, first) if first > self.at else 0
        missing -= gone
        if not job.subjects and missing > state.get("num_deleted", 0):
            raise ConnectionLost(f"{format_messages(missing)} did not come that the stream's leader has")
        self.lost += gone
        if gone and job.fail_on_loss:
            raise head_loss_error(job.stream, first, self.at, gone, bool(job.subjects))
        if job.subjects:
            return
        self.deleted += missing
        if missing and job.fail_on_deleted:
            raise DataLoss(
                f"{format_messages(missing)} of {job.stream} {'was' if missing == 1 else 'were'} deleted"
                f" between {self.at} and {reached - 1}",
                "set failOnDeleted to false to read what is left",
            )

    def _info(self, connection: StreamConnection) -> Json:
        """The stream's info from its leader. Raises DataLoss when it is another stream, or rolled back."""
        job = self.job
        try:
            info = self.call(connection, f"STREAM.INFO.{job.stream}")
        except ApiError as error:
            if error.err_code == 10059:
                raise DataLoss(f"stream {job.stream} is gone") from None
            raise
        check_identity(info, job.created, job.end)
        return info

    def _check_stream(self, connection: StreamConnection) -> None:
        self._info(connection)


def head_loss_error(stream: str, first: int, wanted: int, count: int, filtered: bool) -> DataLoss:
    """The error for `count` messages from `wanted` on, when the stream begins at `first` now. filtered: only
    some subjects are read."""
    return DataLoss(
        f"{stream} starts at sequence {first} now, {wanted} was to be read: {format_lost(count, filtered)}",
        "set failOnDataLoss to false to read what is left",
    )


def check_identity(info: Json, created: str, end: int) -> None:
    """Raise DataLoss unless `info` is of the stream that was planned, with all sequences below `end` used."""
    name = info["config"]["name"]
    if info["created"] != created:
        raise DataLoss(
            f"stream {name} was created again at {info['created']}",
            "its sequences are others now: start anew, without the old checkpoint",
        )
    if info["state"]["last_seq"] < end - 1:
        raise DataLoss(
            f"stream {name} was rolled back: it was at sequence {end - 1}, now it ends at"
            f" {info['state']['last_seq']}",
            "its sequences are others now: start anew, without the old checkpoint",
        )
