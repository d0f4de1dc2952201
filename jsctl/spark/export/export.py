"""Streams into tables: what is to be read is settled once, read and written in one Spark job, and committed
with a checkpoint that says which sequences the table holds."""

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput, JsctlError
from jsctl.spark.datasource.registration import register
from jsctl.spark.export import shared_folder as visible
from jsctl.spark.export.decode import BAD, Shape, failure, flat, infer, partitions, shaped
from jsctl.spark.export.stream_target import FILES, StreamTarget
from jsctl.spark.export.verify import Verdict, verify
from jsctl.spark.export.write import options as file_options
from jsctl.spark.session.task_progress import counted_tasks
from jsctl.spark.source import plan
from jsctl.spark.source.connection import StreamConnection
from jsctl.spark.source.failures import are_lost
from jsctl.spark.source.failures import messages as count_of_messages
from jsctl.spark.source.options import ReadOptions, parse
from jsctl.spark.source.reader import DataLoss, check_identity
from jsctl.units import format_rfc3339

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PART_MESSAGES, PART_BYTES = 100_000, 64 << 20
"""What one task reads at the most: progress is told by finished tasks, and files stay handy."""

Progress = Callable[[str, int, int], AbstractContextManager[Callable[[float], None]]]
"""(label, messages, bytes) -> what is called with the part that is done, from 0 to 1."""


@dataclass(frozen=True)
class Source:
    """A stream, and the table that it goes to."""

    settings: Settings
    stream: str
    table: str


@dataclass(frozen=True)
class Selection:
    """What of a stream. start, end: sequences, the end exclusive. since, until: times, the end exclusive."""

    subjects: tuple[str, ...] = ()
    start: int | None = None
    end: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    fail_on_loss: bool = True
    fail_on_deleted: bool = False


class Planned(NamedTuple):
    """What a run reads: [start, end) of the stream as it was created.

    lost: sequences that the table was to go on with, and that are gone already. messages, bytes: about so
    many. first: of the table.
    """

    created: str
    start: int
    end: int
    first: int
    lost: int
    messages: int
    bytes: int


@dataclass(frozen=True)
class Outcome:
    """What a run did with one stream.

    deleted: None where it cannot be known, as only some subjects were read. bytes: of payload. seconds: of
    reading and writing.
    """

    stream: str
    table: str
    exported: int = 0
    bytes: int = 0
    deleted: int | None = 0
    lost: int = 0
    bad: int = 0
    first: int | None = None
    last: int | None = None
    seconds: float = 0.0
    verdict: Verdict | None = None

    def plus(self, later: "Outcome") -> "Outcome":
        """This run and the next one, as one."""
        deleted = None if self.deleted is None or later.deleted is None else self.deleted + later.deleted
        return Outcome(
            stream=self.stream,
            table=self.table,
            exported=self.exported + later.exported,
            bytes=self.bytes + later.bytes,
            deleted=deleted,
            lost=self.lost + later.lost,
            bad=self.bad + later.bad,
            first=later.first if self.first is None else self.first,
            last=self.last if later.last is None else later.last,
            seconds=self.seconds + later.seconds,
        )


@dataclass
class Exporter:
    """Exports to one target, which is held. tell: a sentence for people."""

    target: StreamTarget
    selection: Selection
    shape: Shape
    tell: Callable[[str], None]
    progress: Progress
    looked: dict[str, Planned] = field(default_factory=dict)

    def plan(self, source: Source, going_on: bool) -> Planned:
        """What the next run reads. going_on: from where the table ends, when there is one.

        Raises ApiError when there is no such stream, DataLoss, BadInput, Unreachable.
        """
        checkpoint = self.target.checkpoint(source.table) if going_on else None
        if checkpoint:
            self._check_settings(source, checkpoint)
        options = self._read_options(source)
        return plan.ask(options, lambda connection: self._plan(connection, source, options, checkpoint))

    def run(self, spark: "SparkSession", source: Source, planned: Planned, going_on: bool) -> Outcome:
        """Read and commit. Raises JsctlError; nothing of the run is left then."""
        begin = time.monotonic()
        self._tell_of_loss(source, planned.lost, "before they were read")
        checkpoint = self.target.checkpoint(source.table) if going_on else None
        try:
            done = self._run(spark, source, planned, checkpoint, begin)
        except Exception as error:
            raise failure(error) from None
        self._tell_of_loss(source, done.lost - planned.lost, "while others were read")
        return done

    def check(self, spark: "SparkSession", source: Source) -> Verdict:
        """Compare the whole table with a second read of the stream. Raises JsctlError."""
        from pyspark.sql.types import StructType

        held = self.target.checkpoint(source.table)
        if held is None:
            raise JsctlError(f"{self.target.path} has no {source.table}")
        options = self._read_options(source)
        stream = plan.ask(options, lambda connection: plan.look(connection, options))
        if stream.created != held["created"]:
            raise DataLoss(
                f"stream {source.stream} was created again", "it cannot be compared with the table"
            )
        first, end = int(held["from"]), int(held["next"])
        left = min(max(first, stream.first), end)
        shape = self.shape._replace(schema=held["settings"]["schema"])
        format = self.target.format
        try:
            with self._told(spark, f"verifying {source.table}", held["exported"], 0):
                messages = self._messages(spark, source, left, end, lenient=True)
                again = flat(shaped(messages, shape), format)
                schema = StructType.fromJson(held["columns"])
                table = read_table(spark, self.target.path / source.table, format, schema)
                return verify(table, again, first, end, left)
        except Exception as error:
            raise failure(error) from None

    def _tell_of_loss(self, source: Source, lost: int, when: str) -> None:
        if lost:
            what = count_of_messages(lost, bool(self.selection.subjects))
            self.tell(f"jsctl: {what} of {source.stream} fell off its head {when}")

    # -- planning ---------------------------------------------------------------------------------

    def _plan(
        self,
        connection: StreamConnection,
        source: Source,
        options: ReadOptions,
        checkpoint: dict[str, Any] | None,
    ) -> Planned:
        stream = plan.look(connection, options)
        info = connection.call(f"{options.prefix}.STREAM.INFO.{source.stream}", None, options.timeout)
        chosen = self.selection
        if checkpoint:
            check_identity(info, checkpoint["created"], int(checkpoint["next"]))
            wanted = int(checkpoint["next"])
        elif chosen.since:
            wanted = plan.sequence_at(connection, options, stream, chosen.since)
        else:
            wanted = stream.first if chosen.start is None else chosen.start
        end = stream.end
        if chosen.until:
            end = plan.sequence_at(connection, options, stream, chosen.until)
        elif chosen.end is not None:
            end = min(chosen.end, end)
        if wanted > stream.end:
            raise BadInput(
                f"--from-seq {wanted} is beyond {source.stream}, whose last message is {stream.end - 1}"
            )
        lost = max(0, min(stream.first, end) - wanted)
        if lost and chosen.fail_on_loss:
            raise DataLoss(
                f"{source.stream} starts at sequence {stream.first}, {wanted} was to be read:"
                f" {are_lost(lost, bool(chosen.subjects))}",
                "--no-fail-on-data-loss reads what is left",
            )
        start = min(max(wanted, stream.first), max(end, wanted))
        end = max(start, end)
        state = info["state"]
        span = max(1, stream.end - stream.first)
        messages = (end - start) * min(1.0, state["messages"] / span)
        size = messages * state["bytes"] / max(1, state["messages"])
        first = int(checkpoint["from"]) if checkpoint else wanted
        return Planned(stream.created, start, end, first, lost, round(messages), round(size))

    def _check_settings(self, source: Source, checkpoint: dict[str, Any]) -> None:
        kept, now = checkpoint["settings"], self._settings("")
        for name, value in now.items():
            if name == "schema":
                if self.shape.schema and self.shape.schema != kept.get("given"):
                    raise BadInput(f"{source.table} was exported with another --schema", "give the same one")
            elif kept.get(name) != value:
                flag = "--" + name.replace("_", "-")
                raise BadInput(
                    f"{source.table} was exported with other {flag}: {_said(kept.get(name))}",
                    "give the same, or another folder",
                )

    def _settings(self, schema: str) -> dict[str, Any]:
        return {
            "decode": self.shape.decode, "schema": schema, "partition_by": list(self.shape.partition_by),
            "keep_data": self.shape.keep, "headers": self.shape.headers,
            "subject": list(self.selection.subjects),
        }  # fmt: skip

    def _read_options(self, source: Source) -> ReadOptions:
        return parse(read_options(source, self.selection), settings=source.settings)

    # -- running ----------------------------------------------------------------------------------

    def _run(
        self, spark: "SparkSession", source: Source, planned: Planned, checkpoint: dict[str, Any] | None,
        begin: float,
    ) -> Outcome:  # fmt: skip
        from pyspark.sql import Observation
        from pyspark.sql import functions as F

        messages = self._messages(spark, source, planned.start, planned.end, planned)
        shape = self._with_schema(spark, source, planned, messages, checkpoint)
        format = self.target.format
        read, decoded = Observation(), Observation()
        seen = messages.observe(
            read, F.count(F.lit(1)).alias("rows"), F.min("sequence").alias("first"),
            F.max("sequence").alias("last"), F.sum(F.length("data")).alias("bytes"),
        )  # fmt: skip
        table = shaped(seen, shape)
        if shape.decode:
            table = table.observe(decoded, F.count(BAD).alias("bad"))
        table = flat(table, format)
        with self.target.commit(source.table, replace=checkpoint is None) as (folder, note):
            with self._told(spark, f"exporting {source.table}", planned.messages, planned.bytes):
                _write(table, folder, format, shape)
            found = read.get
            visible.check(
                spark, folder, found["rows"], lambda: read_table(spark, folder, format, table.schema)
            )
            bad = decoded.get["bad"] if shape.decode else 0
            deleted, lost = self._missing(spark, source, planned, folder, found["rows"], table)
            before: dict[str, Any] = checkpoint or {}
            done = Outcome(
                source.stream, source.table, found["rows"], found["bytes"] or 0, deleted,
                lost + planned.lost, bad, found["first"], found["last"],
            )  # fmt: skip
            total_deleted = None if deleted is None else deleted + (before.get("deleted") or 0)
            note |= {
                "stream": source.stream, "created": planned.created,
                "from": planned.first, "next": planned.end,
                "exported": done.exported + before.get("exported", 0), "deleted": total_deleted,
                "lost": done.lost + before.get("lost", 0), "bad": bad + before.get("bad", 0),
                "settings": {**self._settings(shape.schema), "given": self.shape.schema},
                "columns": table.schema.jsonValue(), "written": format_rfc3339(time.time_ns()),
            }  # fmt: skip
        return replace(done, seconds=time.monotonic() - begin)

    def _messages(
        self, spark: "SparkSession", source: Source, start: int, end: int, planned: Planned | None = None,
        *, lenient: bool = False,
    ) -> "DataFrame":  # fmt: skip
        chosen = self.selection
        if lenient:
            chosen = replace(chosen, fail_on_loss=False, fail_on_deleted=False)
        options = read_options(source, chosen)
        options |= {"startingOffsets": str(start), "endingOffsets": str(end)}
        if start == end:
            options |= {"startingOffsets": "latest", "endingOffsets": "earliest"}  # nothing, also of nothing
        if self.shape.headers:
            options["includeHeaders"] = "true"
        if planned:
            parts = max(planned.messages / PART_MESSAGES, planned.bytes / PART_BYTES)
            options["minPartitions"] = str(max(1, min(10_000, math.ceil(parts))))
        name = f"jetstream_{source.table}"
        register(spark, source.settings, name)
        return spark.read.format(name).options(**options).load()

    def _with_schema(
        self, spark: "SparkSession", source: Source, planned: Planned, messages: "DataFrame",
        checkpoint: dict[str, Any] | None,
    ) -> Shape:  # fmt: skip
        if self.shape.decode != "json" or self.shape.schema:
            return self.shape
        if checkpoint:
            return self.shape._replace(schema=checkpoint["settings"]["schema"])
        with self._told(spark, f"finding the fields of {source.table}", planned.messages, planned.bytes):
            return self.shape._replace(schema=infer(messages))

    def _missing(
        self,
        spark: "SparkSession",
        source: Source,
        planned: Planned,
        folder: Path,
        rows: int,
        table: "DataFrame",
    ) -> tuple[int | None, int]:
        """(deleted, lost) of what was planned and not read. When loss fails the run nothing is lost here."""
        options = self._read_options(source)
        stream = plan.ask(options, lambda connection: plan.look(connection, options))
        if stream.created != planned.created:
            raise DataLoss(f"stream {source.stream} was created again while it was read")
        moved = not self.selection.fail_on_loss and stream.first > planned.start
        edge = min(stream.first, planned.end)
        lost = 0
        if moved:
            kept = read_table(spark, folder, self.target.format, table.schema)
            lost = edge - planned.start - kept.where(f"sequence < {edge}").count()
        if self.selection.subjects:
            return None, lost
        return planned.end - planned.start - rows - lost, lost

    @contextlib.contextmanager
    def _told(self, spark: "SparkSession", label: str, messages: int, size: int) -> Iterator[None]:
        with self.progress(label, messages, size) as advance, counted_tasks(spark, advance):
            yield


def read_options(source: Source, selection: Selection) -> dict[str, str]:
    """Options of the data source, beside the connection. Raises BadInput for one that it cannot use."""
    if source.settings.socks_proxy:
        raise BadInput("Spark's readers cannot use --socks-proxy", "use a context without it")
    found = {"stream": source.stream}
    found["requestTimeout"] = f"{max(source.settings.timeout, 1_000_000) // 1_000_000}ms"
    if selection.subjects:
        found["subject"] = ",".join(selection.subjects)
    found["failOnDataLoss"] = str(selection.fail_on_loss).lower()
    found["failOnDeleted"] = str(selection.fail_on_deleted).lower()
    return found


def read_table(spark: "SparkSession", folder: Path, format: str, schema: Any) -> "DataFrame":
    """A table as it was written; an empty one where no file is."""
    if not folder.is_dir():
        return spark.createDataFrame([], schema)
    reader = spark.read.format(format).options(**file_options(format))
    if format in FILES:
        reader = reader.schema(schema)
    return reader.load(folder.absolute().as_uri())


def _write(table: "DataFrame", folder: Path, format: str, shape: Shape) -> None:
    # The folder is new; not every format can fail when it is not.
    writer = table.write.format(format).options(**file_options(format)).mode("append")
    if shape.partition_by:
        writer = writer.partitionBy(*(name for name, _ in partitions(shape.partition_by)))
    writer.save(folder.absolute().as_uri())


def _said(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return str(value) or "none"
