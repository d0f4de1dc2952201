"""Streaming queries, `spark.readStream.format("jetstream")`.

Offsets are in checkpoints and in a query's progress. The part of a stream is {"stream", "created", "from",
"next", "lost", "deleted"}: its name and creation time, and the half open range of sequences that the batch
which ends there reads. A query of one stream has that part as its offset, one of several has {"streams":
{name: part}}.

lost, deleted: how many messages were missing in the range when the batch was planned, at the stream's head
and after it; Spark has no other place for such numbers in a query's progress. deleted is null when it is
unknown (see `plan.count_deleted`). Messages that go missing later are the difference between numInputRows and
next - from - lost - deleted; the tasks that notice warn of it, or fail.

Offsets include their start because Spark does not record an initial offset: it requests one again after a
restart, and the first batch would silently omit messages that were purged meanwhile.
"""

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Never, cast

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    ReadMaxRows,
    ReadMinRows,
    SupportsTriggerAvailableNow,
)

from jsctl.base.units import SECOND
from jsctl.errors import ApiError, BadInput, ExitStatus, JsctlError
from jsctl.spark.source import admission, plan, stream_names
from jsctl.spark.source.batch_reader import RangePartition, plan_partitions, read_partition
from jsctl.spark.source.committed import CommittedConsumer
from jsctl.spark.source.connection import StreamConnection
from jsctl.spark.source.failures import log, warn_of_loss, without_traceback
from jsctl.spark.source.options import ReadOptions
from jsctl.spark.source.planning import PlanningConnection
from jsctl.spark.source.range_reader import DataLoss, head_loss_error

if TYPE_CHECKING:
    import pyarrow as pa

Offset = dict[str, Any]
Part = dict[str, Any]

POLL = 0.3
"""Seconds between two polls for new messages while there are none. Spark itself polls every 10 ms."""

MAX_POLL = 3.0
"""Seconds between two polls of many streams."""

NAMES_POLL = 5.0
"""Seconds between two polls for streams that match a pattern."""


class JetStreamStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """The reader of a streaming query. It exists on the driver as long as the query; `read` runs in tasks."""

    def __init__(self, options: ReadOptions) -> None:
        self.options = options
        self._planning = PlanningConnection(options)
        self._modes: plan.Modes = {}
        self._targets: dict[str, int] | None = None  #: end of a query with AvailableNow, by stream
        self._latest: Offset | None = None
        self._names: list[str] = []
        self._names_at = 0.0
        self._looked_at = 0.0  #: time of the last poll without new messages; 0 for never
        self._waiting_since = time.monotonic()  #: for minOffsetsPerTrigger
        self._initial: Offset | None = None
        self._heads: set[tuple[str, int]] = (
            set()
        )  #: streams and starts that are not promised (see `is_promised` in `plan`)
        self._created_again: set[tuple[str, str]] = set()  #: streams and their new times, once logged
        self._sizes: dict[str, admission.Sizes] = {}
        self._committed = CommittedConsumer(options) if options.consumer else None
        self._shown_at = 0  #: the last target of the committed consumer

    def __getstate__(self) -> dict[str, Any]:
        """Return the state that tasks need."""
        return {"options": self.options}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.options = state["options"]

    @without_traceback
    def initialOffset(self) -> Offset:
        """Return the offset at which the query starts.

        Spark calls this when it plans batch 0 and again when it runs it, and the stream's head may have moved
        by then.
        """
        if self._initial is None:
            self._initial = self._find_start()
        return self._initial

    @without_traceback
    def prepareForTriggerAvailableNow(self) -> None:
        def work(connection: StreamConnection) -> dict[str, int]:
            names = self._list_stream_names(connection)
            return {name: self._fetch(connection, name).end for name in names}

        self._targets = self._planning.run(work)

    def getDefaultReadLimit(self) -> ReadLimit:
        options = self.options
        if options.max_offsets:
            return ReadMaxRows(options.max_offsets)
        if options.max_trigger_bytes:
            return ReadMaxBytes(options.max_trigger_bytes)
        if options.min_offsets:
            return ReadMinRows(options.min_offsets)
        return ReadAllAvailable()

    @without_traceback
    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:
        """Return the end of the next batch, `start` itself when there is nothing new.

        Raises DataLoss when a stream was created again or rolled back, or has lost messages and the options
        require failing; BadInput when the checkpoint is from another stream.
        """
        parts = _split_offset(self.options, start)
        self._wait_for_next_poll()
        # Spark calls `commit` only when it plans a batch with new messages; a finished batch is shown at
        # once.
        self._show_committed(parts)
        end = self._planning.run(lambda connection: self._find_next_parts(connection, parts, limit))
        if end is None:
            self._looked_at = time.monotonic()
            return start
        self._looked_at = 0.0
        self._waiting_since = time.monotonic()
        return _join_parts(self.options, end)

    def reportLatestOffset(self) -> Offset | None:
        return self._latest

    @without_traceback
    def partitions(self, start: Offset, end: Offset) -> list[RangePartition]:
        if start == end:
            return []
        parts, start_parts = _split_offset(self.options, end), _split_offset(self.options, start)

        def work(connection: StreamConnection) -> list[RangePartition]:
            return [
                partition
                for name, part in parts.items()
                if part["from"] < part["next"] and start_parts.get(name) != part
                for partition in self._plan_partitions(connection, name, part)
            ]

        return self._planning.run(work)

    def read(self, partition: InputPartition) -> "Iterator[pa.RecordBatch]":
        return read_partition(self.options, cast(RangePartition, partition))

    def commit(self, end: Offset) -> None:
        self._show_committed(_split_offset(self.options, end))

    def stop(self) -> None:
        self._planning.close()

    # -- planning -----------------------------------------------------------------------------------

    def _find_start(self) -> Offset:
        def work(connection: StreamConnection) -> Offset:
            names = self._list_stream_names(connection)
            stream_names.check_ranges(self.options, names)
            parts = {name: self._build_first_part(connection, name) for name in names}
            if self._committed:
                self._committed.check(connection, self.options)
            return _join_parts(self.options, parts)

        return self._planning.run(work)

    def _show_committed(self, parts: dict[str, Part]) -> None:
        """Move the committed consumer, if there is one, to the end of this batch."""
        committed = self._committed
        next = int(parts[self.options.stream]["next"]) if committed else 0
        if committed is None or next == self._shown_at:
            return
        self._shown_at = next  # also after a failure: Spark requests the latest offset several times a second
        try:
            self._planning.run(lambda connection: committed.move(connection, self.options, next))
        except JsctlError as error:  # it only shows the query's progress
            log.warning("jsctl: consumer %s stays where it is: %s", self.options.consumer, error)

    def _wait_for_next_poll(self) -> None:
        if self._looked_at:
            pause = min(POLL * max(1, len(self._names)), MAX_POLL)
            time.sleep(max(0.0, self._looked_at + pause - time.monotonic()))

    def _list_stream_names(self, connection: StreamConnection) -> list[str]:
        if not self._names or time.monotonic() - self._names_at >= NAMES_POLL:
            self._names = stream_names.list_stream_names(connection, self.options)
            self._names_at = time.monotonic()
        return self._names

    def _fetch(self, connection: StreamConnection, name: str) -> plan.StreamState:
        stream = plan.fetch_stream(connection, self.options.select_stream(name), self._modes)
        self._sizes.setdefault(name, admission.Sizes()).record_state(stream)
        return stream

    def _build_first_part(self, connection: StreamConnection, name: str) -> Part:
        stream, options = self._fetch(connection, name), self.options.select_stream(name)
        start = plan.resolve_start(connection, options, stream)
        if not plan.is_promised(options, stream, start):
            self._heads.add((name, start))
        return _build_part(name, stream.created, start)

    def _find_next_parts(
        self, connection: StreamConnection, starts: dict[str, Part], limit: ReadLimit
    ) -> dict[str, Part] | None:
        """Return the parts of the next batch's end; None when there are too few new messages."""
        begins = {name: part for name, part in starts.items() if stream_names.is_named(self.options, name)}
        streams: dict[str, plan.StreamState] = {}
        for name in dict.fromkeys([*begins, *self._list_stream_names(connection)]):
            stream = self._fetch_if_there(connection, name)
            if stream is None:
                continue
            streams[name] = stream
            if name not in begins or self._is_new(name, stream, begins[name]):
                # A stream that appeared later is read from its beginning.
                self._heads.add((name, stream.first))
                begins[name] = _build_part(name, stream.created, stream.first)
            self._check_end(name, stream, begins[name])
        self._latest = _join_parts(
            self.options,
            {name: _build_part(name, stream.created, stream.end) for name, stream in streams.items()},
        )
        available = {
            name: self._find_available(name, begins[name], stream) for name, stream in streams.items()
        }
        ends = self._limit_ends(available, limit)
        moved = {name: end for name, end in ends.items() if end > int(begins[name]["next"])}
        if not moved:
            return None
        return begins | {
            name: self._build_end_part(connection, name, streams[name], begins[name], end)
            for name, end in moved.items()
        }

    def _fetch_if_there(self, connection: StreamConnection, name: str) -> plan.StreamState | None:
        """Fetch a stream's state; None for one of several that no longer exists, if loss is allowed."""
        try:
            return self._fetch(connection, name)
        except ApiError as error:
            if self.options.stream or error.status is not ExitStatus.NOT_FOUND:
                raise
            if self.options.fail_on_loss:
                raise DataLoss(
                    f"stream {name} no longer exists", "set failOnDataLoss to false to read the others"
                ) from None
            return None

    def _is_new(self, name: str, stream: plan.StreamState, part: Part) -> bool:
        """Return whether a stream was created again since a part. Raises DataLoss if loss is not allowed."""
        if stream.created == part["created"]:
            return False
        if self.options.fail_on_loss:
            raise DataLoss(f"stream {name} was created again", self._advise(name, "read it from its head"))
        if (name, stream.created) not in self._created_again:
            self._created_again.add((name, stream.created))
            log.warning(
                "jsctl: stream %s was created again: what it had from sequence %d on and was not read is"
                " lost, and the new one is read from its head",
                *(name, int(part["next"])),
            )
        return True

    def _check_end(self, name: str, stream: plan.StreamState, part: Part) -> None:
        """Raise DataLoss for a stream that was rolled back."""
        if stream.end < int(part["next"]):
            raise DataLoss(
                f"stream {name} was rolled back: it was at sequence {part['next'] - 1}, now it ends at"
                f" {stream.end - 1}",
                self._advise(name),
            )

    def _advise(self, name: str, allowed: str = "") -> str:
        """Return what to do about a stream with other sequences. allowed: what happens if loss is allowed."""
        option = f"set failOnDataLoss to false to {allowed}, or " if allowed else ""
        if self.options.stream:
            return f"{option}start again without the old checkpoint"
        return f"{option}leave {name} out of the option streams: the others continue where they are"

    def _find_available(self, name: str, start: Part, stream: plan.StreamState) -> tuple[int, int]:
        """Return the sequences [begin, end) that can be read now; (next, next) when nothing is new."""
        next = int(start["next"])
        end = stream.end if self._targets is None else min(stream.end, self._targets.get(name, 0))
        return (min(max(next, stream.first), end), end) if end > next else (next, next)

    def _limit_ends(self, available: dict[str, tuple[int, int]], limit: ReadLimit) -> dict[str, int]:
        """Return the end of each stream's part of the next batch; empty while there are too few messages."""
        options = self.options
        if isinstance(limit, ReadAllAvailable):  # also for a trigger that runs once, whatever the options are
            return {name: end for name, (_, end) in available.items()}
        total = sum(end - begin for begin, end in available.values())
        waited = (time.monotonic() - self._waiting_since) * SECOND
        if total < options.min_offsets and waited < options.max_delay and self._targets is None:
            return {}
        return admission.limit_ends(available, self._sizes, options.max_offsets, options.max_trigger_bytes)

    def _build_end_part(
        self, connection: StreamConnection, name: str, stream: plan.StreamState, start: Part, end: int
    ) -> Part:
        begin = int(start["next"])
        available = min(max(begin, stream.first), end)
        if (name, begin) in self._heads:
            begin = available  # messages that were removed since were not promised
            self._heads.add((name, begin))
        if available > begin:
            self._report_loss(name, begin, available)
        deleted = plan.count_deleted(connection, self.options.select_stream(name), stream, available, end)
        return {
            "stream": name,
            "created": stream.created,
            "from": begin,
            "next": end,
            "lost": available - begin,
            "deleted": deleted,
        }

    def _plan_partitions(self, connection: StreamConnection, name: str, part: Part) -> list[RangePartition]:
        options = self.options.select_stream(name)
        begin, end = int(part["from"]), int(part["next"])
        is_promised = (name, begin) not in self._heads
        if not options.fail_on_loss:
            begin = min(begin + int(part.get("lost", 0)), end)
        stream = self._fetch_if_there(connection, name)
        # A repeated batch may be of a stream that exists no longer, or again.
        if stream is None or self._is_new(name, stream, part):
            warn_of_loss(name, end - begin, begin, end, bool(options.subjects))
            return []
        job = plan.create_read_job(options, part["created"], begin, end, is_promised=is_promised)
        return plan_partitions(options, job, stream.direct, self._planning.addresses)

    def _report_loss(self, name: str, begin: int, end: int) -> None:
        """Warn that [begin, end) is lost. Raises DataLoss when the options require it."""
        filtered = bool(self.options.subjects)
        if self.options.fail_on_loss:
            raise head_loss_error(name, end, begin, end - begin, filtered)
        warn_of_loss(name, end - begin, begin, end, filtered)


def _join_parts(options: ReadOptions, parts: dict[str, Part]) -> Offset:
    """Return the offset of a query from its parts by stream."""
    return parts[options.stream] if options.stream else {"streams": parts}


def _split_offset(options: ReadOptions, offset: Offset) -> dict[str, Part]:
    """Return the parts of an offset by stream.

    Raises BadInput when the offset is from a query of other streams.
    """
    query_streams = f"stream {options.stream}" if options.stream else f"streams {', '.join(options.streams)}"
    if "streams" in offset:
        parts: dict[str, Part] = offset["streams"]
        if options.stream:
            raise _other_checkpoint_error(f"streams {', '.join(sorted(parts))}", query_streams)
        return parts
    name = offset.get("stream", options.stream)  # checkpoints of earlier versions have no streams
    if not options.stream or name != options.stream:
        raise _other_checkpoint_error(f"stream {name}" if name else "one stream", query_streams)
    return {name: offset}


def _other_checkpoint_error(checkpoint_streams: str, query_streams: str) -> BadInput:
    return BadInput(
        f"the checkpoint is from a query that reads {checkpoint_streams}, but this one reads {query_streams}",
        "use a separate checkpointLocation for each query",
    )


def _build_part(name: str, created: str, at: int) -> Part:
    return {"stream": name, "created": created, "from": at, "next": at, "lost": 0, "deleted": 0}


class FailingReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """A reader that raises `error` when it is used.

    PySpark replaces an error of `streamReader` with one of its own.
    """

    def __init__(self, error: JsctlError) -> None:
        self.error = error

    @without_traceback
    def _fail(self, *_: object, **__: object) -> Never:
        raise self.error

    initialOffset = prepareForTriggerAvailableNow = getDefaultReadLimit = _fail
    latestOffset = partitions = read = _fail
