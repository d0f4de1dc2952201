"""Reading one range of a stream in a Spark task: the common part of all methods.

It covers attempts and reconnections, what is missing and why, and whether the stream is still the planned
one.
"""

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from jsctl.base.units import SECOND
from jsctl.errors import ApiError, JsctlError, RequestTimeout, Unreachable
from jsctl.jetstream.api import Json, is_no_message
from jsctl.nats.error_codes import ErrorCode
from jsctl.nats.outcomes import ConnectionLost
from jsctl.spark.source.connection import StreamConnection
from jsctl.spark.source.failures import format_lost, format_messages, warn_of_loss
from jsctl.spark.source.replies import count_before

if TYPE_CHECKING:
    import pyarrow as pa


FIRST_PAUSE, MAX_PAUSE = 0.2, 5.0
"""Shortest and longest pause between two attempts (s); five attempts outlast a leader election (up to 9
s)."""


class DataLoss(JsctlError):
    """Messages that should be read no longer exist, and the options say to fail."""


class ReadJob(NamedTuple):
    """What one task reads.

    start, end: sequences, half open. created: the stream's creation time, by which it differs from a later
    stream of its name. prefix: of the API. subjects: only messages on these, empty for all. batch, max_bytes:
    messages and bytes of payload for each request. timeout: ns without an answer. retries: attempts without
    progress, and more for retry_timeout, in ns, while no server answers. is_promised: whether all that was
    there when it was planned must be read; if not, what falls off the stream's head meanwhile is left out.
    without_payloads: payloads are not wanted; if the server can leave them out, they are empty.
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
    retry_timeout: int = 0
    fail_on_loss: bool = True
    fail_on_deleted: bool = False
    is_promised: bool = True
    without_payloads: bool = False


class RetryLimit:
    """A count of attempts without progress, while a server is away.

    retries: attempts that are always allowed. timeout: ns during which further attempts are allowed.
    """

    def __init__(self, retries: int, timeout: int = 0, clock: Callable[[], float] = time.monotonic) -> None:
        self.failures = 0
        self._retries = retries
        self._timeout = timeout
        self._clock = clock
        self._since = 0.0

    def record_success(self) -> None:
        """Reset the count of failures after progress."""
        self.failures = 0

    def record_failure(self, error: Exception, problem: str, *, timed: bool = True) -> None:
        """Count an attempt. Raises its error when there were too many; Unreachable, with the message that
        `problem` failed, for an error that is not jsctl's.

        timed: whether the timeout allows for more attempts.
        """
        now = self._clock()
        if not self.failures:
            self._since = now
        self.failures += 1
        is_late = not timed or (now - self._since) * SECOND >= self._timeout
        if self.failures > self._retries and is_late:
            if isinstance(error, JsctlError):
                raise error
            raise Unreachable(problem, str(error)) from None

    def pause(self) -> None:
        """Wait before the next attempt."""
        time.sleep(min(FIRST_PAUSE * 4.0 ** min(self.failures - 1, 8), MAX_PAUSE))


class RangeReader:
    """Iterate over it once for batches of messages.SCHEMA, in the order of their sequences.

    at: the next sequence to yield. deleted, lost: messages that did not exist any more, up to the last batch.
    With a subject filter deletions look like other subjects and are not counted, and lost messages may have
    been on others.

    Raises DataLoss, Unreachable, Denied, ApiError.
    """

    def __init__(self, job: ReadJob, connect: Callable[[], StreamConnection]) -> None:
        self.job = job
        self.at = job.start
        self.deleted = 0
        self.lost = 0
        self._connect = connect
        self._connection: StreamConnection | None = None
        self._retry_limit = RetryLimit(job.retries, job.retry_timeout)

    def __iter__(self) -> "Iterator[pa.RecordBatch]":
        try:
            self._with_retries(self._skip_lost)
            while self.at < self.job.end:
                at_before = self.at
                batch = self._with_retries(self.read_batch)
                if self.at > at_before:
                    self._retry_limit.record_success()
                if batch:
                    yield batch
            self._with_retries(self._check_stream)
        finally:
            self.finish()
            self._disconnect()
            if self.lost and not (self.job.fail_on_loss and self.job.is_promised):
                job = self.job
                warn_of_loss(job.stream, self.lost, job.start, job.end, bool(job.subjects))

    def read_batch(self, connection: StreamConnection) -> "pa.RecordBatch | None":
        """Read from `at` on, and advance it. Return what was read, None for nothing."""
        raise NotImplementedError

    def on_connection_lost(self) -> "pa.RecordBatch | None":
        """Drop the requests on a lost connection; return the usable part of their answers."""
        return None

    def finish(self) -> None:
        """Remove what the reader created on the server."""

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
                usable = self.on_connection_lost()
                self._disconnect()
                if usable is not None:
                    return usable
                self._retry_limit.record_failure(error, self._describe_silence())
                self._retry_limit.pause()

    def count_failure(self, error: Exception) -> None:
        """Count an attempt without progress, although servers answer. Raises its error when there were too
        many."""
        self._retry_limit.record_failure(error, self._describe_silence(), timed=False)

    def _describe_silence(self) -> str:
        return f"no answer for {self.job.stream} from sequence {self.at} on"

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def call(self, connection: StreamConnection, verb: str, body: Json | None = None) -> Json:
        """Make a JetStream API request. verb: what follows the API prefix in its subject."""
        subject = f"{self.job.prefix}.{verb}"
        try:
            return connection.call(subject, body, self.job.timeout)
        except RequestTimeout as error:
            raise Unreachable(error.message, f"reading needs permission to publish to {subject}") from None

    def find_next_on_leader(self, connection: StreamConnection, sequence: int) -> int:
        """Return the first sequence from `sequence` on that the stream's leader has and that must be read; 0
        for none."""
        sequences = (
            self._find_next(connection, sequence, subject) for subject in self.job.subjects or (">",)
        )
        return min(filter(None, sequences), default=0)

    def _find_next(self, connection: StreamConnection, sequence: int, subject: str) -> int:
        body = {"seq": sequence, "next_by_subj": subject}
        try:
            response = self.call(connection, f"STREAM.MSG.GET.{self.job.stream}", body)
        except ApiError as error:
            if is_no_message(error):
                return 0
            raise
        return int(response["message"]["seq"])

    def count_missing(self, connection: StreamConnection, batch: "pa.RecordBatch", reached: int) -> None:
        """Count the messages from `at` until `reached` that are not in the batch, as deleted or as lost, when
        the stream dropped them before they were read. Raises ConnectionLost when they are neither,
        DataLoss."""
        job = self.job
        missing = reached - self.at - len(batch)
        if not missing:
            return
        state = self._fetch_info(connection)["state"]
        first = state["first_seq"]
        lost = min(first, reached) - self.at - count_before(batch, first) if first > self.at else 0
        missing -= lost
        if not job.subjects and missing > state.get("num_deleted", 0):
            raise ConnectionLost(f"{format_messages(missing)} that the stream's leader has did not arrive")
        self.lost += lost
        if lost:
            self._check_loss(first, lost)
        if job.subjects:
            return
        self.deleted += missing
        if missing and job.fail_on_deleted:
            raise DataLoss(
                f"{format_messages(missing)} of {job.stream} {'was' if missing == 1 else 'were'} deleted"
                f" between {self.at} and {reached - 1}",
                "set failOnDeleted to false to read what is left",
            )

    def _fetch_info(self, connection: StreamConnection) -> Json:
        """Fetch the stream's info from its leader.

        Raises DataLoss when it was created again, or rolled back.
        """
        job = self.job
        try:
            info = self.call(connection, f"STREAM.INFO.{job.stream}")
        except ApiError as error:
            if error.err_code == ErrorCode.STREAM_NOT_FOUND:
                raise DataLoss(f"stream {job.stream} no longer exists") from None
            raise
        check_identity(info, job.created, job.end)
        return info

    def _check_loss(self, first: int, lost: int) -> None:
        job = self.job
        if job.fail_on_loss and job.is_promised:
            raise head_loss_error(job.stream, first, self.at, lost, bool(job.subjects))

    def _check_stream(self, connection: StreamConnection) -> None:
        self._fetch_info(connection)

    def _skip_lost(self, connection: StreamConnection) -> None:
        """Start at the stream's head if it is beyond `at`: a range that was overtaken is empty."""
        first = min(max(self._fetch_info(connection)["state"]["first_seq"], self.at), self.job.end)
        if lost := first - self.at:
            self._check_loss(first, lost)
            self.lost += lost
            self.at = first


def head_loss_error(stream: str, first: int, requested: int, count: int, filtered: bool) -> DataLoss:
    """Return the error for `count` lost messages from `wanted` on, of a stream that starts at `first` now.

    filtered: only some subjects are read.
    """
    return DataLoss(
        f"{stream} now starts at sequence {first}, after the requested {requested}:"
        f" {format_lost(count, filtered)}",
        "set failOnDataLoss to false to read what is left",
    )


def check_identity(info: Json, created: str, end: int, advice: str = "run it again") -> None:
    """Raise DataLoss unless `info` is of the stream that was created then, and it has reached `end`,
    exclusive. advice: what to do otherwise.
    """
    name = info["config"]["name"]
    if info["created"] != created:
        raise DataLoss(
            f"stream {name} was created again at {info['created']}",
            f"its sequences are different now: {advice}",
        )
    if info["state"]["last_seq"] < end - 1:
        raise DataLoss(
            f"stream {name} was rolled back: it was at sequence {end - 1}, now it ends at"
            f" {info['state']['last_seq']}",
            f"its sequences are different now: {advice}",
        )
