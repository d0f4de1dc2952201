"""`spark.readStream.format("jetstream")`: offsets that say what a batch reads, whatever happened since.

An offset is {"created", "from", "next"}: the stream's creation time, and the half open range of sequences
that the batch which ends there reads. The range's start is part of it because Spark does not write down an
initial offset: it asks again after a restart, and where messages were purged meanwhile the first batch would
leave them out without a word.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)

from jsctl.spark import plan
from jsctl.spark.options import ReadOptions
from jsctl.spark.reader import DataLoss
from jsctl.spark.source import Range, read, split
from jsctl.spark.wire import Wire

if TYPE_CHECKING:
    import pyarrow as pa

Offset = dict[str, Any]


class JetStreamStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Lives on the driver for as long as the query; `read` runs in tasks."""

    def __init__(self, options: ReadOptions) -> None:
        self.options = options
        self._target: int | None = None  #: where AvailableNow ends
        self._latest: Offset | None = None

    def initialOffset(self) -> Offset:
        def work(wire: Wire) -> Offset:
            stream = plan.look(wire, self.options)
            return _offset(stream.created, plan.start_of(wire, self.options, stream))

        return plan.ask(self.options, work, self.options.retries)

    def prepareForTriggerAvailableNow(self) -> None:
        self._target = self._look().end

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxRows(self.options.max_offsets) if self.options.max_offsets else ReadAllAvailable()

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:
        """The end of the next batch; `start` itself when there is nothing new. Raises DataLoss when the
        stream is another one, or was rolled back."""
        stream = self._look()
        self._check(stream, start)
        self._latest = _offset(stream.created, stream.end)
        end = stream.end if self._target is None else min(stream.end, self._target)
        begin = int(start["next"])
        if isinstance(limit, ReadMaxRows):
            # What is lost already, and is to be passed over, does not count.
            passed = begin if self.options.fail_on_loss else max(begin, stream.first)
            end = min(end, passed + limit.max_rows)
        return {"created": stream.created, "from": begin, "next": end} if end > begin else start

    def reportLatestOffset(self) -> Offset | None:
        return self._latest

    def partitions(self, start: Offset, end: Offset) -> list[Range]:
        if start == end:
            return []
        direct = self._look().direct
        return split(self.options, end["created"], int(end["from"]), int(end["next"]), direct)

    def read(self, partition: InputPartition) -> "Iterator[pa.RecordBatch]":
        assert isinstance(partition, Range)
        return read(self.options, partition)

    def _look(self) -> plan.Stream:
        return plan.ask(self.options, lambda wire: plan.look(wire, self.options), self.options.retries)

    def _check(self, stream: plan.Stream, start: Offset) -> None:
        name = self.options.stream
        if stream.created != start["created"]:
            raise DataLoss(f"stream {name} was created again", "start anew, without the old checkpoint")
        if stream.end < int(start["next"]):
            raise DataLoss(
                f"stream {name} was rolled back: it was at sequence {start['next'] - 1}, now it ends at"
                f" {stream.end - 1}",
                "start anew, without the old checkpoint",
            )


def _offset(created: str, at: int) -> Offset:
    return {"created": created, "from": at, "next": at}
