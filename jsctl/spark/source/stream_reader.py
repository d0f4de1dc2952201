"""Streaming queries, `spark.readStream.format("jetstream")`.

An offset is {"created", "from", "next", "lost", "deleted"}. The first three are the stream's creation time
and the half open range of sequences that the batch which ends there reads. The range has its start because
Spark does not record an initial offset: it asks again after a restart, and the first batch would silently
leave out messages that were purged meanwhile.

lost, deleted: how many messages were missing in the range when the batch was planned, at the stream's head
and further in; Spark has no other place for such numbers in a query's progress. deleted is null when it is
unknown (see `plan.count_deleted`). Messages that go missing later are the difference between numInputRows and
next - from - lost - deleted; the tasks that notice warn of it, or fail.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Never, TypeVar, cast

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)

from jsctl.errors import JsctlError
from jsctl.spark.source import plan
from jsctl.spark.source.batch_reader import RangePartition, plan_partitions, read_partition
from jsctl.spark.source.connection import StreamConnection
from jsctl.spark.source.failures import warn_of_loss, without_traceback
from jsctl.spark.source.options import ReadOptions
from jsctl.spark.source.reader import DataLoss, head_loss_error

if TYPE_CHECKING:
    import pyarrow as pa

Offset = dict[str, Any]
T = TypeVar("T")


class JetStreamStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Exists on the driver as long as the query; `read` runs in tasks."""

    def __init__(self, options: ReadOptions) -> None:
        self.options = options
        self._target: int | None = None  #: where AvailableNow ends
        self._latest: Offset | None = None

    @without_traceback
    def initialOffset(self) -> Offset:
        return self._with_stream(
            lambda connection, stream: _offset(
                stream.created, plan.resolve_start(connection, self.options, stream)
            )
        )

    @without_traceback
    def prepareForTriggerAvailableNow(self) -> None:
        self._target = self._with_stream(lambda connection, stream: stream.end)

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxRows(self.options.max_offsets) if self.options.max_offsets else ReadAllAvailable()

    @without_traceback
    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:
        """Return the end of the next batch, `start` itself when there is nothing new.

        Raises DataLoss when the stream was created again or rolled back, or has lost messages and the options
        say to fail.
        """

        def work(connection: StreamConnection, stream: plan.StreamState) -> Offset:
            self._check(stream, start)
            self._latest = _offset(stream.created, stream.end)
            end = stream.end if self._target is None else min(stream.end, self._target)
            begin = int(start["next"])
            available = max(begin, stream.first)
            if isinstance(limit, ReadMaxRows):
                end = min(end, available + limit.max_rows)  # lost messages do not count
            if end <= begin:
                return start
            available = min(available, end)
            if available > begin:
                self._report_loss(begin, available)
            deleted = plan.count_deleted(connection, self.options, stream, available, end)
            return {
                "created": stream.created,
                "from": begin,
                "next": end,
                "lost": available - begin,
                "deleted": deleted,
            }

        return self._with_stream(work)

    def reportLatestOffset(self) -> Offset | None:
        return self._latest

    @without_traceback
    def partitions(self, start: Offset, end: Offset) -> list[RangePartition]:
        if start == end:
            return []

        def work(connection: StreamConnection, stream: plan.StreamState) -> list[RangePartition]:
            begin, next = int(end["from"]), int(end["next"])
            if not self.options.fail_on_loss:
                # A repeated batch may find less than when it was planned.
                begin += int(end.get("lost", 0))
                available = min(max(begin, stream.first), next)
                if available > begin and stream.created == end["created"]:
                    self._report_loss(begin, available)
                    begin = available
            return plan_partitions(self.options, end["created"], begin, next, stream.direct)

        return self._with_stream(work)

    def read(self, partition: InputPartition) -> "Iterator[pa.RecordBatch]":
        return read_partition(self.options, cast(RangePartition, partition))

    def _with_stream(self, work: Callable[[StreamConnection, plan.StreamState], T]) -> T:
        def fetch_and_work(connection: StreamConnection) -> T:
            return work(connection, plan.fetch_stream(connection, self.options))

        return plan.with_connection(self.options, fetch_and_work)

    def _report_loss(self, begin: int, end: int) -> None:
        """Warn that [begin, end) is gone. Raises DataLoss when the options say so."""
        name, filtered = self.options.stream, bool(self.options.subjects)
        if self.options.fail_on_loss:
            raise head_loss_error(name, end, begin, end - begin, filtered)
        warn_of_loss(name, end - begin, begin, end, filtered)

    def _check(self, stream: plan.StreamState, start: Offset) -> None:
        name = self.options.stream
        if stream.created != start["created"]:
            raise DataLoss(f"stream {name} was created again", "start again without the old checkpoint")
        if stream.end < int(start["next"]):
            raise DataLoss(
                f"stream {name} was rolled back: it was at sequence {start['next'] - 1}, now it ends at"
                f" {stream.end - 1}",
                "start again without the old checkpoint",
            )


class FailingReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Raises `error` when it is used. PySpark replaces an error of `streamReader` with one of its own."""

    def __init__(self, error: JsctlError) -> None:
        self.error = error

    @without_traceback
    def initialOffset(self) -> Never:
        raise self.error

    @without_traceback
    def prepareForTriggerAvailableNow(self) -> Never:
        raise self.error

    @without_traceback
    def getDefaultReadLimit(self) -> Never:
        raise self.error

    @without_traceback
    def latestOffset(self, start: Offset, limit: ReadLimit) -> Never:
        raise self.error

    @without_traceback
    def partitions(self, start: Offset, end: Offset) -> Never:
        raise self.error

    @without_traceback
    def read(self, partition: InputPartition) -> Never:
        raise self.error


def _offset(created: str, at: int) -> Offset:
    return {"created": created, "from": at, "next": at, "lost": 0, "deleted": 0}
