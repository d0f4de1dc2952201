"""The export of a stream to a table. What to read is planned once, read and written in one Spark job, and
committed together with a checkpoint that says which sequences the table contains."""

import contextlib
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from jsctl.base.files import temporary_folder
from jsctl.base.units import format_rfc3339
from jsctl.errors import BadInput, JsctlError
from jsctl.spark.decoding.model import BAD_PAYLOAD
from jsctl.spark.decoding.registry_decoder import encode_schema
from jsctl.spark.export.backfill import merge_rows, replace_rows
from jsctl.spark.export.checkpoint_settings import build_settings, check_settings
from jsctl.spark.export.engines import Engine, Written
from jsctl.spark.export.exported_tables import check_columns
from jsctl.spark.export.found_schema import extend_schema, infer_schema, say_rounding
from jsctl.spark.export.job_errors import job_error
from jsctl.spark.export.layout import Arrangement, TableLayout, apply_layout, check_bad, decode_data
from jsctl.spark.export.message_reads import MessageReads
from jsctl.spark.export.stream_plan import (
    Outcome,
    ReadPlan,
    Selection,
    StreamSource,
    plan_backfill,
    plan_read,
)
from jsctl.spark.export.table_files import SparkFiles, TableFiles, TaskFiles
from jsctl.spark.export.table_target import TableTarget
from jsctl.spark.export.targets import TablesTarget, read_rows
from jsctl.spark.export.task_folders import FolderOpener
from jsctl.spark.export.text_formats import flatten_for_format
from jsctl.spark.export.verify import Comparison, compare
from jsctl.spark.session.read_counter import ReadCounter
from jsctl.spark.session.session import FOLDERS
from jsctl.spark.session.task_progress import report_repeatedly, report_task_progress
from jsctl.spark.source import plan as source_plan
from jsctl.spark.source.failures import format_messages
from jsctl.spark.source.newest_schema import find_newest_schema
from jsctl.spark.source.plan import StreamState
from jsctl.spark.source.planning import with_connection
from jsctl.spark.source.range_reader import DataLoss

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Progress = Callable[[str, int, int], AbstractContextManager[Callable[[float], None]]]
"""(label, messages, bytes) -> what is called with the share that is done, from 0 to 1."""


class _Run(NamedTuple):
    """One run for a stream. checkpoint: of the table that it extends, None for a new one. counter: counts
    what tasks of this machine read, None for others."""

    engine: Engine
    source: StreamSource
    plan: ReadPlan
    checkpoint: dict[str, Any] | None
    counter: ReadCounter | None

    def start_measuring(self) -> Callable[[], float] | None:
        """Return what returns the share of the plan that the next jobs have read; None if it is unknown."""
        counter, total = self.counter, max(1, self.plan.end - self.plan.start)
        if counter is None:
            return None
        counter.reset()
        return lambda: min(1.0, counter.read() / total)


@dataclass(frozen=True, slots=True)
class StreamExporter:
    """An exporter of streams to one target, which the caller has locked. notify: shows a sentence to
    people. backfill: write a range of existing tables again."""

    target: TablesTarget
    selection: Selection
    layout: TableLayout
    notify: Callable[[str], None]
    progress: Progress
    backfill: bool = False

    def plan(self, source: StreamSource, incremental: bool) -> ReadPlan:
        """Return what the next run reads. incremental: from where the table ends, when there is one.

        Raises ApiError when there is no such stream, DataLoss, BadInput, Unreachable.
        """
        checkpoint = self.target.read_checkpoint(source.table) if incremental else None
        if checkpoint:
            check_settings(source.table, self.layout, self.selection, checkpoint["settings"])
        options = self.reads.build_options(source)
        if self.backfill:
            if not checkpoint:
                raise BadInput(
                    f"{self.target.path} has no table {source.table} with a position", "export it first"
                )
            return with_connection(
                options, lambda link: plan_backfill(link, options, self.selection, checkpoint)
            )
        return with_connection(options, lambda link: plan_read(link, options, self.selection, checkpoint))

    def run(self, engine: Engine, source: StreamSource, read_plan: ReadPlan, incremental: bool) -> Outcome:
        """Read and commit. Raises JsctlError; nothing of the run remains then."""
        begin = time.monotonic()
        self._notify_of_loss(source, read_plan.lost, "before they were read")
        checkpoint = self.target.read_checkpoint(source.table) if incremental else None
        try:
            with _open_counter(engine) as counter:
                run = _Run(engine, source, read_plan, checkpoint, counter)
                if self.backfill and checkpoint:
                    outcome = self._write_backfill(run, checkpoint)
                else:
                    outcome = self._write(run, *self._choose_table_files(run))
        except Exception as error:
            raise job_error(error) from None
        self._notify_of_loss(source, outcome.lost - read_plan.lost, "while others were read")
        return replace(outcome, seconds=time.monotonic() - begin)

    def verify(self, spark: "SparkSession", source: StreamSource) -> Comparison:
        """Compare the whole table with a second read of the stream. Raises JsctlError."""
        from pyspark.sql.types import StructType

        checkpoint = self.target.read_checkpoint(source.table)
        if checkpoint is None:
            raise JsctlError(f"{self.target.path} has no {source.table}")
        stream = self._fetch_stream(source)
        if stream.created != checkpoint["created"]:
            raise DataLoss(
                f"stream {source.stream} was created again", "it cannot be compared with the table"
            )
        first, end = int(checkpoint["from"]), int(checkpoint["next"])
        first_available = min(max(first, stream.first), end)
        layout = self.layout._replace(schema=checkpoint["settings"]["schema"])
        format = self.target.format
        try:
            label = f"verifying {source.table}"
            with (
                self.progress(label, checkpoint.get("exported", 0), 0) as advance,
                report_task_progress(spark, advance),
            ):
                messages = self.reads.build_frame(spark, source, first_available, end, lenient=True)
                expected = flatten_for_format(apply_layout(messages, layout), format)
                check_columns(self.target.path, checkpoint, expected.columns)
                schema = StructType.fromJson(checkpoint["columns"])
                table = read_rows(spark, self.target, source.table, schema)
                return compare(table, expected, first, end, first_available)
        except Exception as error:
            raise job_error(error) from None

    def _fetch_stream(self, source: StreamSource) -> StreamState:
        options = self.reads.build_options(source)
        return with_connection(
            options, lambda connection: source_plan.fetch_stream(connection, options), is_known=True
        )

    def _notify_of_loss(self, source: StreamSource, lost: int, when: str) -> None:
        if lost:
            count = format_messages(lost, bool(self.selection.subjects))
            self.notify(f"jsctl: {source.stream} dropped {count} {when}")

    @property
    def reads(self) -> MessageReads:
        """Reads of messages as this export needs them."""
        return MessageReads(self.selection, self.layout)

    # -- running ----------------------------------------------------------------------------------

    def _choose_table_files(self, run: _Run) -> tuple[TableFiles, TableLayout]:
        """Return the writer of the messages, and the layout with its schema."""
        layout = self._find_schema(run)
        if open_folder := self._find_task_folders(run.engine):
            reader = self.reads.build_reader(run.source, run.plan)
            arrangement = Arrangement.of(layout)
            files = TaskFiles(run.engine.run, reader, arrangement, open_folder, counter=run.counter)
            if run.checkpoint:
                names = check_columns(self.target.path, run.checkpoint, files.schema.names)
                files = replace(files, columns=names)
            return files, layout
        return self._build_spark_files(self._read_messages(run), layout, run.checkpoint), layout

    def _read_messages(self, run: _Run) -> "DataFrame":
        reads = replace(self.reads, counter=run.counter)
        return reads.build_frame(run.engine.spark, run.source, run.plan.start, run.plan.end, run.plan)

    def _find_task_folders(self, engine: Engine) -> FolderOpener | None:
        """Return what opens folders for the tasks that read messages, None if they cannot write the table."""
        if self.target.format != "parquet" or self.layout.decode == "variant":
            return None
        return engine.find_task_folders(self.target.path)

    def _build_spark_files(
        self, messages: "DataFrame", layout: TableLayout, checkpoint: dict[str, Any] | None
    ) -> SparkFiles:
        from pyspark.sql import Observation
        from pyspark.sql import functions as F

        format = self.target.format
        read_counts = Observation()
        decode_counts = Observation() if layout.can_be_bad else None
        observed = messages.observe(
            read_counts,
            F.count(F.lit(1)).alias("rows"),
            F.min("sequence").alias("first"),
            F.max("sequence").alias("last"),
            F.sum(F.length("data")).alias("bytes"),
        )
        table = apply_layout(observed, layout)
        if layout.order:
            table = table.sortWithinPartitions(*layout.order)
        if decode_counts:
            table = table.observe(decode_counts, F.count(BAD_PAYLOAD).alias("bad"))
        table = flatten_for_format(table, format)
        if checkpoint:
            # CSV has columns by position, and its readers fill with null what a file has not.
            names = check_columns(self.target.path, checkpoint, table.columns)
            table = table.select(
                *(f"`{n.replace('`', '``')}`" for n in dict.fromkeys([*names, *table.columns]))
            )
        return SparkFiles(table, format, self.target.save_mode, layout, read_counts, decode_counts)

    def _write_backfill(self, run: _Run, checkpoint: dict[str, Any]) -> Outcome:
        """Write the rows of the plan anew, in one commit. The position of the table stays as it is."""
        source, read_plan, target = run.source, run.plan, self.target
        layout = self._find_schema(run)
        files = self._build_spark_files(self._read_messages(run), layout, checkpoint)
        self._check_bad_first(run, layout)
        is_partial = self.selection.subjects or self._fetch_stream(source).is_partial
        with self._show_reading(run, f"exporting {source.table}"):
            if isinstance(target, TableTarget):
                counts = merge_rows(target, source.table, files.table, read_plan)
            else:
                settings = {**checkpoint["settings"], **build_settings(self.layout, self.selection, layout)}
                changed = {**checkpoint, "settings": settings, "written": format_rfc3339(time.time_ns())}
                counts = replace_rows(
                    run.engine.spark, target, source.table, files, read_plan, changed, self._check_bad(source)
                )
        return Outcome(
            source.stream,
            source.table,
            exported=counts.rows,
            bytes=counts.bytes,
            deleted=None if is_partial else read_plan.end - read_plan.start - counts.rows,
            bad=counts.bad,
            first=counts.first,
            last=counts.last,
        )

    def _check_bad(self, source: StreamSource) -> Callable[[int], None]:
        """Return what raises JsctlError for as many payloads that cannot be decoded as fail a run."""
        return partial(check_bad, source.table, self.selection.fail_on_bad)

    def _check_bad_first(self, run: _Run, layout: TableLayout) -> None:
        """Do the same before rows go to a table of a catalog, where they are committed at once."""
        if self.selection.fail_on_bad and isinstance(self.target, TableTarget):
            rows = apply_layout(self._read_messages(run), layout)
            self._check_bad(run.source)(rows.where(f"{BAD_PAYLOAD} IS NOT NULL").count())

    def _write(self, run: _Run, files: TableFiles, layout: TableLayout) -> Outcome:
        source, read_plan, checkpoint = run.source, run.plan, run.checkpoint
        schema = files.schema
        self._check_bad_first(run, layout)
        with self.target.commit(source.table, replace=checkpoint is None) as (folder, new_checkpoint):
            new_checkpoint |= {
                "stream": source.stream,
                "created": read_plan.created,
                "from": read_plan.first,
                "next": read_plan.end,
                "settings": build_settings(self.layout, self.selection, layout),
                "columns": schema.jsonValue(),
                "written": format_rfc3339(time.time_ns()),
            }
            with self._show_reading(run, f"exporting {source.table}"):
                counts = files.write(folder)
            self._check_bad(source)(counts.bad)
            written = Written(self.target, source.table, schema, folder)
            run.engine.check_visible(written, counts.rows)
            deleted, lost = self._count_missing(run, written, counts.rows)
            earlier: dict[str, Any] = checkpoint or {}
            outcome = Outcome(
                stream=source.stream,
                table=source.table,
                exported=counts.rows,
                bytes=counts.bytes,
                deleted=deleted,
                lost=lost + read_plan.lost,
                bad=counts.bad,
                first=counts.first,
                last=counts.last,
            )
            new_checkpoint |= {
                "exported": outcome.exported + earlier.get("exported", 0),
                "deleted": None if deleted is None else deleted + (earlier.get("deleted") or 0),
                "lost": outcome.lost + earlier.get("lost", 0),
                "bad": counts.bad + earlier.get("bad", 0),
            }
        return outcome

    def _find_schema(self, run: _Run) -> TableLayout:
        """Return the layout with a schema when JSON is decoded: the given one, an inferred one, or the
        table's with new fields added. That of a registry is the newest, or the table's."""
        if self.layout.schema or not (self.layout.decode == "json" or self.layout.decoding.has_address):
            return self.layout
        source, read_plan, checkpoint = run.source, run.plan, run.checkpoint
        earlier = checkpoint["settings"] if checkpoint else {}
        if self.layout.decode != "json":
            return self._find_registered_schema(source, earlier)
        if earlier.get("given") or (checkpoint and read_plan.start == read_plan.end):
            return self.layout._replace(schema=earlier["schema"])
        messages = self._read_messages(run)
        if self.layout.decompress:
            messages = decode_data(messages, self.layout._replace(decode="", keep_data=False), ["sequence"])
        with self._show_reading(run, f"finding the fields of {source.table}"):
            added: list[str] = []
            if checkpoint:
                schema, added, rounding = extend_schema(messages, earlier["schema"])
            else:
                schema, rounding = infer_schema(messages)
        if rounding:
            self.notify(say_rounding(source.table, rounding))
        if added:
            self.notify(f"jsctl: {source.table} has new columns or fields: {', '.join(added)}")
        return self.layout._replace(schema=schema)

    def _find_registered_schema(self, source: StreamSource, earlier: dict[str, Any]) -> TableLayout:
        newest = find_newest_schema(self.reads.build_options(source), self.layout.decoding)
        schema = encode_schema(newest.kind, newest.schema)
        if not earlier:
            return self.layout._replace(schema=schema, message=newest.message)
        if schema != earlier["schema"]:
            self.notify(f"jsctl: {source.table} keeps the schema of its first run; newer fields are left out")
        message = earlier.get("found_message") or self.layout.message
        return self.layout._replace(schema=earlier["schema"], message=message)

    def _count_missing(self, run: _Run, written: Written, rows: int) -> tuple[int | None, int]:
        """Return how many of the planned messages were (deleted, lost) before they were read.

        Lost is 0 when loss fails the run.
        """
        source, read_plan = run.source, run.plan
        stream = self._fetch_stream(source)
        if stream.created != read_plan.created:
            raise DataLoss(f"stream {source.stream} was created again while it was read")
        dropped = 0
        allows_loss = not self.selection.fail_on_loss
        if (allows_loss or not read_plan.is_promised) and stream.first > read_plan.start:
            first_available = min(stream.first, read_plan.end)
            read_before = run.engine.count_rows(written, read_plan.start, first_available)
            dropped = first_available - read_plan.start - read_before
        lost = dropped if allows_loss else 0
        if not allows_loss:  # what was not promised is not lost
            self._notify_of_loss(source, dropped, "before they were read")
        if self.selection.subjects or stream.is_partial:
            return None, lost
        return read_plan.end - read_plan.start - rows - dropped, lost

    @contextlib.contextmanager
    def _show_reading(self, run: _Run, label: str) -> Iterator[None]:
        """Show how far a job has read the plan."""
        with self.progress(label, run.plan.messages, run.plan.bytes) as advance:
            measure = run.start_measuring()
            if measure is None:
                reporting = report_task_progress(run.engine.spark, advance)
            else:
                reporting = report_repeatedly(lambda: advance(measure()))
            with reporting:
                yield


@contextlib.contextmanager
def _open_counter(engine: Engine) -> Iterator[ReadCounter | None]:
    """Yield a counter for tasks on this machine, None for those on others."""
    if not engine.is_here:
        yield None
        return
    with temporary_folder(FOLDERS) as folder:
        yield ReadCounter(folder / "read")
