"""Reading one range of a stream by batch direct get (ADR-31): without a consumer or other state on the
server.

Any replica answers, and with one that lags messages seem deleted, as with a mirror that answers for
its origin. If an answer ends too early, the stream's leader is queried, and an answer of another stream is
discarded.
"""

import json
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from jsctl.errors import JsctlError, NoResponders
from jsctl.jetstream.api import Json
from jsctl.nats.outcomes import ConnectionLost
from jsctl.spark.source.connection import StreamConnection
from jsctl.spark.source.range_reader import RangeReader, ReadJob
from jsctl.spark.source.replies import AnswerLimits, Reply, count_before, get_sequence, measure_payload

if TYPE_CHECKING:
    import pyarrow as pa

DEPTH = 2
"""Number of requests in flight. More or larger ones delay publishers, as the server answers each without a
pause."""

FEW = 10
"""Sequences per message above which a subject counts as sparse. FEW times as many of them are requested:
the server counts all matches for each request, and serves publishers while it searches for them."""


class _Request(NamedTuple):
    """A request for `batch` messages from `start` on."""

    key: bytes
    reply: Reply
    start: int
    batch: int


class MirrorAnswered(JsctlError):
    """A mirror answers repeatedly in place of the stream."""


class DirectReader(RangeReader):
    """A reader by direct gets. Raises MirrorAnswered, besides what a RangeReader raises."""

    def __init__(self, job: ReadJob, connect: Callable[[], StreamConnection]) -> None:
        super().__init__(job, connect)
        self._batch = job.batch
        self._requests: deque[_Request] = deque()
        self._subject = job.subjects[0] if job.subjects else ""  # direct get takes one filter
        self._empty_answers = 0  #: empty answers in a row
        self._span = 1  #: sequences per message of the subject, in the last answer
        self._is_sparse = bool(
            self._subject
        )  #: answers reach far beyond the requested range: one request at a time

    def read_batch(self, connection: StreamConnection) -> "pa.RecordBatch | None":
        self._fill(connection)
        request = self._requests[0]
        connection.read_until(lambda: bool(request.reply.status), self.job.timeout)
        self._requests.popleft()
        connection.forget(request.key)
        return self._take_answer(connection, request)

    def on_connection_lost(self) -> "pa.RecordBatch | None":
        # The server disconnects a reader that exceeds its write deadline: request less.
        self._batch = max(1, self._batch // 2)
        self._empty_answers = 0
        request = self._requests[0] if self._requests else None
        self._requests.clear()
        if request is None or request.reply.is_foreign:
            return None
        messages = request.reply.join_messages()
        messages = messages.slice(count_before(messages, self.at))
        # Sequences ascend: if the last one fits, none is missing before it.
        count = min(len(messages), self.job.end - self.at)
        while count and get_sequence(messages, count - 1) != self.at + count - 1:
            count -= 1
        self.at += count
        return messages.slice(0, count) if count else None

    def _fill(self, connection: StreamConnection) -> None:
        depth = 1 if self._is_sparse else DEPTH
        if not self._requests:
            self._ask(connection, self.at)
        while len(self._requests) < depth:
            last = self._requests[-1]
            if last.start + last.batch >= self.job.end:
                break
            self._ask(connection, last.start + last.batch)

    def _ask(self, connection: StreamConnection, start: int) -> None:
        job = self.job
        batch = self._choose_batch_size(start)
        body: Json = {"seq": start, "batch": batch, "max_bytes": job.max_bytes}
        if self._subject:
            body["next_by_subj"] = self._subject
        limits = AnswerLimits(f"{job.prefix}.DIRECT.GET.{job.stream}", batch, job.max_bytes)
        key, reply = connection.ask(limits, json.dumps(body).encode())
        self._requests.append(_Request(key, reply, start, batch))

    def _choose_batch_size(self, start: int) -> int:
        """Return how many messages to request from `start` on."""
        remaining = self.job.end - start
        if self._span < FEW:
            return min(self._batch, remaining)
        # Few more than expected: messages after the end belong to another task.
        expected = remaining // self._span
        return min(self._batch * FEW, remaining, expected + expected // 8 + FEW)

    def _drop_requests(self, connection: StreamConnection) -> None:
        for request in self._requests:
            connection.forget(request.key)
        self._requests.clear()

    # -- answers ------------------------------------------------------------------------------------

    def _take_answer(self, connection: StreamConnection, request: _Request) -> "pa.RecordBatch | None":
        job, reply = self.job, request.reply
        if reply.status == 503:
            raise NoResponders(
                f"no server answers direct gets for {job.stream}",
                "it has no leader at the moment, or does not allow direct get",
            )
        if reply.status not in (204, 404):
            raise JsctlError(f"direct get on {job.stream} failed: {reply.status} {reply.description}")
        if reply.is_foreign:
            self._drop_requests(connection)
            self.count_failure(
                MirrorAnswered(
                    f"a mirror of {job.stream} answers in its place",
                    "read with fetchMode consumer, or the mirror itself",
                )
            )
            return None
        messages = reply.join_messages()
        begin, stop = count_before(messages, self.at), count_before(messages, job.end)
        batch = messages.slice(begin, stop - begin)
        reached = self._find_reached(connection, request, batch, beyond=stop < len(messages))
        self.count_missing(connection, batch, reached)
        self._adapt(connection, request, messages, reached)
        if reached == self.at:
            self._wait_for_replica()
        else:
            self._empty_answers = 0
        self.at = reached
        return batch

    def _wait_for_replica(self) -> None:
        """Wait for a replica that does not have the requested messages yet. Raises ConnectionLost after 5
        s."""
        self._empty_answers += 1
        if self._empty_answers > 8:
            raise ConnectionLost("a replica lags far behind the stream's leader")
        time.sleep(0.01 * 2**self._empty_answers)

    def _find_reached(
        self, connection: StreamConnection, request: _Request, batch: "pa.RecordBatch", beyond: bool
    ) -> int:
        """Return the first sequence that this answer does not cover, at which the next one must start."""
        job, reply = self.job, request.reply
        if beyond:
            return job.end
        next_sequence = get_sequence(batch, -1) + 1 if batch else max(self.at, request.start)
        is_full = reply.count >= request.batch or reply.pending > 0
        if (
            is_full
            or next_sequence >= job.end
            or (not self._subject and next_sequence >= request.start + request.batch)
        ):
            return next_sequence
        # The replica has no more messages. Either there are none, or it lags; the leader knows.
        following = self.find_next_on_leader(connection, next_sequence)
        return min(following, job.end) if following else job.end

    def _adapt(
        self, connection: StreamConnection, request: _Request, messages: "pa.RecordBatch", reached: int
    ) -> None:
        """Adapt the next requests to how far this answer reached."""
        job, rows = self.job, len(messages)
        if self._subject:
            self._span = (reached - request.start) // max(1, rows)
        if reached < min(request.start + request.batch, job.end):
            # It ended early, at max_bytes or with a lagging replica: requests in flight would leave a gap.
            self._drop_requests(connection)
            if request.reply.pending:
                self._batch = max(1, rows)
        elif not self._subject:
            self._is_sparse = reached > request.start + request.batch * 3 // 2
        if rows >= request.batch and measure_payload(messages) * 2 <= job.max_bytes:
            self._batch = min(job.batch, self._batch * 2)
        while self._requests and self._requests[0].start + self._requests[0].batch <= reached:
            connection.forget(self._requests.popleft().key)
