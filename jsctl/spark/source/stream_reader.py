"""`spark.readStream.format("jetstream")`: offsets that say what a batch reads, whatever happened since.

An offset is {"created", "from", "next", "lost", "deleted"}. The first three are the stream's creation time
and the half open range of sequences that the batch which ends there reads. The range's start is part of it
because Spark does not write down an initial offset: it asks again after a restart, and where messages were
purged meanwhile the first batch would leave them out without a word.

lost, deleted: what was missing in the range when the batch was planned, at the stream's head and further in;
Spark has no other place for numbers of ours in a query's progress. deleted is null where it is not known
(see `plan.count_deleted`). What goes missing after that is what numInputRows is short of next - from - lost -
deleted; the tasks that notice warn of it, or fail.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Never, TypeVar

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
    """Lives on the driver for as long as the query; `read` runs in tasks."""

    def __init__(self, options: ReadOptions) -> None:
        self.options = options
        self._target: int | None = None  #: where AvailableNow ends
        self._latest: Offset | None = None

    @without_traceback
    def initialOffset(self) -> Offset:
        return self._ask(
            lambda connection, stream: _offset(
                stream.created, plan.resolve_start(connection, self.options, stream)
            )
        )

    @without_traceback
    def prepareForTriggerAvailableNow(self) -> None:
        self._target = self._ask(lambda connection, stream: stream.end)

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxRows(self.options.max_offsets) if self.options.max_offsets else ReadAllAvailable()

    @without_traceback
    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:
        """The end of the next batch; `start` itself when there is nothing new. Raises DataLoss when the
        stream is another one, was rolled back, or has lost messages and the options say to fail."""

        def work(connection: StreamConnection, stream: plan.StreamState) -> Offset:
            self._check(stream, start)
            self._latest = _offset(stream.created, stream.end)
            end = stream.end if self._target is None else min(stream.end, self._target)
            begin = int(start["next"])
            left = max(begin, stream.first)
            if isinstance(limit, ReadMaxRows):
                end = min(end, left + limit.max_rows)  # what is lost does not count
            if end <= begin:
                return start
            left = min(left, end)
            if left > begin:
                self._lost(begin, left)
            deleted = plan.count_deleted(connection, self.options, stream, left, end)
            found = {"created": stream.created, "from": begin, "next": end}
            return {**found, "lost": left - begin, "deleted": deleted}

        return self._ask(work)

    def reportLatestOffset(self) -> Offset | None:
        return self._latest

    @without_traceback
    def partitions(self, start: Offset, end: Offset) -> list[RangePartition]:
        if start == end:
            return []

        def work(connection: StreamConnection, stream: plan.StreamState) -> list[RangePartition]:
            begin, next = int(end["from"]), int(end["next"])
            if not self.options.fail_on_loss:
                # A batch that is done again may find less than when it was planned.
                begin += int(end.get("lost", 0))
                left = min(max(begin, stream.first), next)
                if left > begin and stream.created == end["created"]:
                    self._lost(begin, left)
                    begin = left
            return plan_partitions(self.options, end["created"], begin, next, stream.direct)

        return self._ask(work)

    def read(self, partition: InputPartition) -> "Iterator[pa.RecordBatch]":
        assert isinstance(partition, RangePartition)
        return read_partition(self.options, partition)

    def _ask(self, work: Callable[[StreamConnection, plan.StreamState], T]) -> T:
        def looked(connection: StreamConnection) -> T:
            return work(connection, plan.fetch_stream(connection, self.options))

        return plan.with_connection(self.options, looked)

    def _lost(self, begin: int, end: int) -> None:
        """[begin, end) is gone. Raises DataLoss when the options say so."""
        name, filtered = self.options.stream, bool(self.options.subjects)
        if self.options.fail_on_loss:
            raise head_loss_error(name, end, begin, end - begin, filtered)
        warn_of_loss(name, end - begin, begin, end, filtered)

    def _check(self, stream: plan.StreamState, start: Offset) -> None:
        name = self.options.stream
        if stream.created != start["created"]:
            raise DataLoss(f"stream {name} was created again", "start anew, without the old checkpoint")
        if stream.end < int(start["next"]):
            raise DataLoss(
                f"stream {name} was rolled back: it was at sequence {start['next'] - 1}, now it ends at"
                f" {stream.end - 1}",
                "start anew, without the old checkpoint",
            )


class FailingReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Raises `error` when it is used: PySpark trips over a reader that cannot be made, and tells of that."""

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
