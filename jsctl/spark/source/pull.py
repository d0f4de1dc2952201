"""The reading of one range of a stream through a pull consumer, if direct get is off or the server is old.

The consumer needs no acknowledgements and is kept in memory; it is removed afterwards, and by the server
itself when this process is killed.
"""

import contextlib
import json
import random
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from jsctl.base.units import SECOND
from jsctl.errors import JsctlError
from jsctl.jetstream.api import Json
from jsctl.jetstream.message.pull_status import PullEnd, explain_end
from jsctl.nats.outcomes import ConnectionLost
from jsctl.spark.source.connection import StreamConnection
from jsctl.spark.source.range_reader import RangeReader, ReadJob
from jsctl.spark.source.replies import AnswerLimits, count_before, get_sequence

if TYPE_CHECKING:
    import pyarrow as pa

INACTIVE_THRESHOLD = 60 * SECOND
"""ns without a request after which the server removes the consumer."""

_GONE = (
    PullEnd.DELETED,
    PullEnd.LEADER_CHANGED,
    PullEnd.SHUTDOWN,
    PullEnd.NO_RESPONDERS,
    PullEnd.OTHER_CONFLICT,
)
"""Ends of a pull after which a task creates a new consumer."""


_SIZE = b"Nats-Msg-Size: "
"""The header that the server adds in place of a payload."""


class ConsumerReader(RangeReader):
    """A reader through a consumer. Raises what a RangeReader raises."""

    def __init__(self, job: ReadJob, connect: Callable[[], StreamConnection]) -> None:
        super().__init__(job, connect)
        self._name = ""
        self._max_bytes = job.max_bytes

    def read_batch(self, connection: StreamConnection) -> "pa.RecordBatch | None":
        job = self.job
        if not self._name:
            self._create(connection)
        batch_size = min(job.batch, job.end - self.at) if self._max_bytes else 1
        body = {"batch": batch_size, "max_bytes": self._max_bytes, "no_wait": True}
        subject = f"{job.prefix}.CONSUMER.MSG.NEXT.{job.stream}.{self._name}"
        limits = AnswerLimits(subject, batch_size, self._max_bytes)
        delivered = connection.open_consumer_reply(limits)
        key, reply = connection.ask(limits, json.dumps(body).encode())
        connection.read_until(lambda: bool(reply.status) or delivered.count >= batch_size, job.timeout)
        connection.forget(key)
        rows = delivered.join_messages()
        if job.without_payloads:
            rows = _without_sizes(rows)
        if rows and get_sequence(rows, 0) < self.at:
            raise ConnectionLost("the consumer restarted from the beginning")
        end = explain_end(reply.status, reply.description)
        if not rows and end is PullEnd.TOO_LARGE:
            self._max_bytes = 0  # one message is larger than max_bytes: fetch it alone
            return None
        if not rows and end in _GONE:
            raise ConnectionLost(f"the consumer no longer exists: {reply.description or end.value}")
        if not rows and end is not PullEnd.COMPLETE:
            raise JsctlError(f"{job.stream}: {reply.status} {reply.description}")
        self._max_bytes = job.max_bytes
        batch = rows.slice(0, count_before(rows, job.end))
        reached = self._find_reached(connection, rows, len(batch) < len(rows), delivered.pending)
        self.count_missing(connection, batch, reached)
        self.at = reached
        return batch

    def _find_reached(
        self, connection: StreamConnection, rows: "pa.RecordBatch", beyond: bool, pending: int
    ) -> int:
        """Return the first sequence that this answer does not cover, at which the next one must start."""
        end = self.job.end
        if beyond:
            return end
        next_sequence = get_sequence(rows, -1) + 1 if rows else self.at
        if next_sequence >= end or (rows and pending):
            return next_sequence
        # The consumer has no more messages. Its server may lag; the leader knows.
        following = self.find_next_on_leader(connection, next_sequence)
        if not following or following >= end:
            return end
        if not rows:
            self.finish()
            raise ConnectionLost("the consumer's server lags")  # the next consumer may be on another server
        return following

    def on_connection_lost(self) -> "pa.RecordBatch | None":
        self._name = ""
        return None

    def finish(self) -> None:
        name, self._name = self._name, ""
        if name and self._connection is not None:
            # The server removes an idle consumer anyway.
            with contextlib.suppress(ConnectionLost, TimeoutError, JsctlError):
                self.call(self._connection, f"CONSUMER.DELETE.{self.job.stream}.{name}")

    def _create(self, connection: StreamConnection) -> None:
        job = self.job
        name = f"jsctl_spark_{random.getrandbits(64):016x}"
        config: Json = {
            "name": name,
            "deliver_policy": "by_start_sequence",
            "opt_start_seq": self.at,
            "ack_policy": "none",
            "mem_storage": True,
            "num_replicas": 1,
            "inactive_threshold": INACTIVE_THRESHOLD,
        }
        if job.without_payloads:
            config["headers_only"] = True
        subject = f"CONSUMER.CREATE.{job.stream}.{name}"
        subject += add_filters(config, job.subjects)
        self.call(connection, subject, {"stream_name": job.stream, "config": config})
        self._name = name


def add_filters(config: Json, subjects: Sequence[str]) -> str:
    """Add subject filters to a consumer's configuration; return what they add to the subject of the request
    that creates it."""
    if len(subjects) == 1:
        config["filter_subject"] = subjects[0]
        return f".{subjects[0]}"
    if subjects:
        config["filter_subjects"] = list(subjects)
    return ""


def _without_sizes(rows: "pa.RecordBatch") -> "pa.RecordBatch":
    """Return messages without the last header of each, which the server added; null when a message had no
    others."""
    import pyarrow as pa

    blocks = [block and block.rpartition(_SIZE)[0] + b"\r\n" for block in rows.column(4).to_pylist()]
    return rows.set_column(4, rows.schema.field(4), pa.array(blocks, pa.binary()))
