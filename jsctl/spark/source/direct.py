"""One range of a stream by batch direct get (ADR-31): no consumer, no state on the server, any replica.

Any replica answers, and one that lags looks as if messages were deleted; so does a mirror, which answers
for its origin. Where an answer ends too early the stream's leader is asked, and an answer of another stream
is thrown away.
"""

import json
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from jsctl.errors import JsctlError, NoResponders
from jsctl.jetstream.api import Json
from jsctl.nats.blocking import ConnectionLost
from jsctl.spark.source.connection import StreamConnection
from jsctl.spark.source.reader import Job, RangeReader
from jsctl.spark.source.replies import Reply, before, sequence_of, size
from jsctl.units import SECOND

if TYPE_CHECKING:
    import pyarrow as pa

DEPTH = 2
"""Requests in flight. More of them, or larger ones, hold up publishers (the server answers in one go)."""


class _Asked(NamedTuple):
    """A request for `batch` messages from `start` on."""

    key: bytes
    reply: Reply
    start: int
    batch: int


class MirrorAnswers(JsctlError):
    """A mirror keeps answering in the stream's place."""


class DirectReader(RangeReader):
    """Raises MirrorAnswers, besides what a RangeReader raises."""

    def __init__(self, job: Job, connect: Callable[[], StreamConnection]) -> None:
        super().__init__(job, connect)
        self._batch = job.batch
        self._asked: deque[_Asked] = deque()
        self._subject = job.subjects[0] if job.subjects else ""  # it takes one filter
        self._behind = 0  #: answers in a row without anything
        self._sparse = bool(self._subject)  #: answers reach far beyond what was asked: one at a time

    def step(self, connection: StreamConnection) -> "pa.RecordBatch | None":
        self._fill(connection)
        asked = self._asked[0]
        deadline = time.monotonic() + self.job.timeout / SECOND
        seen = -1
        while not asked.reply.status:
            if connection.received != seen:  # it goes on: the time-out is for silence
                seen = connection.received
                deadline = time.monotonic() + self.job.timeout / SECOND
            connection.pump(deadline)
        self._asked.popleft()
        connection.forget(asked.key)
        return self._answered(connection, asked)

    def interrupted(self) -> "pa.RecordBatch | None":
        # A reader that is slower than the server's write deadline is cut off: ask for less.
        self._batch = max(1, self._batch // 2)
        self._behind = 0
        asked = self._asked[0] if self._asked else None
        self._asked.clear()
        if asked is None or asked.reply.is_foreign:
            return None
        found = asked.reply.messages()
        found = found.slice(before(found, self.at))
        # Sequences go up: where the last one fits, none is missing before it.
        count = min(len(found), self.job.end - self.at)
        while count and sequence_of(found, count - 1) != self.at + count - 1:
            count -= 1
        self.at += count
        return found.slice(0, count) if count else None

    def _fill(self, connection: StreamConnection) -> None:
        depth = 1 if self._sparse else DEPTH
        if not self._asked:
            self._ask(connection, self.at)
        while len(self._asked) < depth:
            last = self._asked[-1]
            if last.start + last.batch >= self.job.end:
                break
            self._ask(connection, last.start + last.batch)

    def _ask(self, connection: StreamConnection, start: int) -> None:
        job = self.job
        batch = min(self._batch, job.end - start)
        body: Json = {"seq": start, "batch": batch, "max_bytes": job.max_bytes}
        if self._subject:
            body["next_by_subj"] = self._subject
        key, reply = connection.ask(f"{job.prefix}.DIRECT.GET.{job.stream}", json.dumps(body).encode())
        self._asked.append(_Asked(key, reply, start, batch))

    def _drop_asked(self, connection: StreamConnection) -> None:
        for asked in self._asked:
            connection.forget(asked.key)
        self._asked.clear()

    # -- answers ------------------------------------------------------------------------------------

    def _answered(self, connection: StreamConnection, asked: _Asked) -> "pa.RecordBatch | None":
        job, reply = self.job, asked.reply
        if reply.status == 503:
            raise NoResponders(
                f"nobody answers direct gets for {job.stream}", "no leader now, or direct get is off"
            )
        if reply.status not in (204, 404):
            raise JsctlError(f"direct get on {job.stream} failed: {reply.status} {reply.description}")
        if reply.is_foreign:
            self._drop_asked(connection)
            self.failed(
                MirrorAnswers(
                    f"a mirror of {job.stream} answers in its place",
                    "read with fetchMode consumer, or the mirror itself",
                )
            )
            return None
        found = reply.messages()
        begin, stop = before(found, self.at), before(found, job.end)
        batch = found.slice(begin, stop - begin)
        reached = self._reached(connection, asked, batch, beyond=stop < len(found))
        self.count_missing(connection, batch, reached)
        self._adapt(connection, asked, found, reached)
        if reached == self.at:
            self._wait_for_replica()
        else:
            self._behind = 0
        self.at = reached
        return batch

    def _wait_for_replica(self) -> None:
        """Wait for a replica that has nothing yet of what is asked; raises ConnectionLost after 5 s."""
        self._behind += 1
        if self._behind > 8:
            raise ConnectionLost("a replica lags far behind the stream's leader")
        time.sleep(0.01 * 2**self._behind)

    def _reached(
        self, connection: StreamConnection, asked: _Asked, batch: "pa.RecordBatch", beyond: bool
    ) -> int:
        """Where the next answer must start: the first sequence that this one says nothing about."""
        job, reply = self.job, asked.reply
        if beyond:
            return job.end
        after = sequence_of(batch, -1) + 1 if batch else max(self.at, asked.start)
        full = reply.count >= asked.batch or reply.pending > 0
        if full or after >= job.end or (not self._subject and after >= asked.start + asked.batch):
            return after
        # The replica has nothing more. Either nobody has, or it lags: its stream's leader knows.
        following = self.next_of_leader(connection, after)
        return min(following, job.end) if following else job.end

    def _adapt(
        self, connection: StreamConnection, asked: _Asked, found: "pa.RecordBatch", reached: int
    ) -> None:
        """Choose what to ask next from how far this answer reached."""
        job, rows = self.job, len(found)
        if reached < min(asked.start + asked.batch, job.end):
            # It ended early, at max_bytes or with a lagging replica: what was asked ahead leaves a hole.
            self._drop_asked(connection)
            if asked.reply.pending:
                self._batch = max(1, rows)
        elif not self._subject:
            self._sparse = reached > asked.start + asked.batch * 3 // 2
        if rows >= asked.batch and size(found) * 2 <= job.max_bytes:
            self._batch = min(job.batch, self._batch * 2)
        while self._asked and self._asked[0].start + self._asked[0].batch <= reached:
            connection.forget(self._asked.popleft().key)
