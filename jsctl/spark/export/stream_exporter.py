"""The export of a stream to a table. What to read is planned once, read and written in one Spark job, and
committed together with a checkpoint that says which sequences the table contains."""

import contextlib
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from jsctl.base.units import format_rfc3339
from jsctl.errors import BadInput, JsctlError
from jsctl.spark.decoding.model import BAD_PAYLOAD
from jsctl.spark.decoding.registry_decoder import encode_schema
from jsctl.spark.export import shared_folder
from jsctl.spark.export.arrangement import Arrangement
from jsctl.spark.export.catalog_table import CatalogTable
from jsctl.spark.export.exported_tables import check_columns
from jsctl.spark.export.job_errors import job_error
from jsctl.spark.export.layout import (
    TableLayout,
    apply_layout,
    decode_data,
    extend_schema,
    flatten_for_format,
    infer_schema,
    parse_partitions,
    say_rounding,
)
from jsctl.spark.export.message_reads import MessageReads
from jsctl.spark.export.stream_plan import Outcome, ReadPlan, Selection, StreamSource, plan_read
from jsctl.spark.export.table_files import SparkFiles, TableFiles, TaskFiles, has_parquet_settings
from jsctl.spark.export.targets import Destination, TablesTarget, read_rows
from jsctl.spark.export.task_folders import FolderOpener, find_opener
from jsctl.spark.export.verify import Comparison, compare
from jsctl.spark.session.task_progress import find_context, report_task_progress
from jsctl.spark.source import plan as source_plan
from jsctl.spark.source.failures import format_messages
from jsctl.spark.source.newest_schema import find_newest_schema
from jsctl.spark.source.plan import StreamState
from jsctl.spark.source.planning import with_connection
from jsctl.spark.source.range_reader import DataLoss

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

Progress = Callable[[str, int, int], AbstractContextManager[Callable[[float], None]]]
"""(label, messages, bytes) -> what is called with the share that is done, from 0 to 1."""


class _Run(NamedTuple):
    """One run for a stream. checkpoint: of the table that it extends, None for a new one."""

    spark: "SparkSession"
    source: StreamSource
    plan: ReadPlan
    checkpoint: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class StreamExporter:
    """An exporter of streams to one target, which the caller has locked. notify: shows a sentence to
    people."""

    target: TablesTarget
    selection: Selection
    layout: TableLayout
    notify: Callable[[str], None]
    progress: Progress

    def plan(self, source: StreamSource, incremental: bool) -> ReadPlan:
        """Return what the next run reads. incremental: from where the table ends, when there is one.

        Raises ApiError when there is no such stream, DataLoss, BadInput, Unreachable.
        """
        checkpoint = self.target.read_checkpoint(source.table) if incremental else None
        if checkpoint:
            _check_settings(source.table, self.layout, self.selection, checkpoint["settings"])
        options = self.reads.build_options(source)
        return with_connection(options, lambda link: plan_read(link, options, self.selection, checkpoint))

    def run(
        self, spark: "SparkSession", source: StreamSource, read_plan: ReadPlan, incremental: bool
    ) -> Outcome:
        """Read and commit. Raises JsctlError; nothing of the run remains then."""
        begin = time.monotonic()
        self._notify_of_loss(source, read_plan.lost, "before they were read")
        checkpoint = self.target.read_checkpoint(source.table) if incremental else None
        run = _Run(spark, source, read_plan, checkpoint)
        try:
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
            with self._show_progress(spark, f"verifying {source.table}", checkpoint.get("exported", 0), 0):
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
        return MessageReads(self.selection, self.layout.headers, self.layout.file_size)

    # -- running ----------------------------------------------------------------------------------

    def _choose_table_files(self, run: _Run) -> tuple[TableFiles, TableLayout]:
        """Return the writer of the messages, and the layout with its schema."""
        layout = self._find_schema(run)
        if open_folder := self._find_task_folders(run.spark):
            reader = self.reads.build_reader(run.source, run.plan)
            files = TaskFiles(run.spark, reader, Arrangement.of(layout), open_folder)
            if run.checkpoint:
                names = check_columns(self.target.path, run.checkpoint, files.schema.names)
                files = replace(files, columns=names)
            return files, layout
        return self._build_spark_files(self._read_messages(run), layout, run.checkpoint), layout

    def _read_messages(self, run: _Run) -> "DataFrame":
        return self.reads.build_frame(run.spark, run.source, run.plan.start, run.plan.end, run.plan)

    def _find_task_folders(self, spark: "SparkSession") -> FolderOpener | None:
        """Return what opens folders for the tasks that read messages, None if they cannot write the table."""
        if self.target.format != "parquet" or self.layout.decode == "variant":
            return None
        path = self.target.path
        if isinstance(path, CatalogTable) or find_context(spark) is None or has_parquet_settings(spark):
            return None
        return find_opener(path)

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
        if layout.sort_by:
            table = table.sortWithinPartitions(layout.sort_by, "sequence")
        if decode_counts:
            table = table.observe(decode_counts, F.count(BAD_PAYLOAD).alias("bad"))
        table = flatten_for_format(table, format)
        if checkpoint:
            # CSV has columns by position, and its readers fill with null what a file has not.
            names = check_columns(self.target.path, checkpoint, table.columns)
            table = table.select(
                *(f"`{n.replace('`', '``')}`" for n in dict.fromkeys([*names, *table.columns]))
            )
        partitions = [name for name, _ in parse_partitions(layout.partition_by)]
        return SparkFiles(table, format, self.target.save_mode, partitions, read_counts, decode_counts)

    def _write(self, run: _Run, files: TableFiles, layout: TableLayout) -> Outcome:
        source, read_plan, checkpoint = run.source, run.plan, run.checkpoint
        schema = files.schema
        with self.target.commit(source.table, replace=checkpoint is None) as (folder, new_checkpoint):
            new_checkpoint |= {
                "stream": source.stream,
                "created": read_plan.created,
                "from": read_plan.first,
                "next": read_plan.end,
                "settings": _build_settings(self.layout, self.selection, layout),
                "columns": schema.jsonValue(),
                "written": format_rfc3339(time.time_ns()),
            }
            label = f"exporting {source.table}"
            with self._show_progress(run.spark, label, read_plan.messages, read_plan.bytes):
                counts = files.write(folder)
            shared_folder.check_visible(
                run.spark,
                folder,
                counts.rows,
                lambda: read_rows(run.spark, self.target, source.table, schema, folder),
            )
            deleted, lost = self._count_missing(run, folder, counts.rows, schema)
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
        label = f"finding the fields of {source.table}"
        with self._show_progress(run.spark, label, read_plan.messages, read_plan.bytes):
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

    def _count_missing(
        self, run: _Run, folder: Destination, rows: int, schema: "StructType"
    ) -> tuple[int | None, int]:
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
            files = self.target.list_uncommitted(source.table)
            written = read_rows(run.spark, self.target, source.table, schema, folder, files)
            is_planned = f"sequence >= {read_plan.start} AND sequence < {first_available}"
            read_before = written.where(is_planned).count()
            dropped = first_available - read_plan.start - read_before
        lost = dropped if allows_loss else 0
        if not allows_loss:  # what was not promised is not lost
            self._notify_of_loss(source, dropped, "before they were read")
        if self.selection.subjects:
            return None, lost
        return read_plan.end - read_plan.start - rows - dropped, lost

    @contextlib.contextmanager
    def _show_progress(self, spark: "SparkSession", label: str, messages: int, size: int) -> Iterator[None]:
        with self.progress(label, messages, size) as advance, report_task_progress(spark, advance):
            yield


def _build_settings(
    layout: TableLayout, selection: Selection, found: TableLayout | None = None
) -> dict[str, Any]:
    """Return the settings for a checkpoint. found: the layout with a schema that was not given."""
    return {
        "decode": layout.decode,
        "schema": found.schema if found else "",
        "partition_by": list(layout.partition_by),
        "keep_data": layout.keep_data,
        "headers": layout.headers,
        "message": layout.message,
        "registry": bool(layout.registry),
        "decompress": layout.decompress,
        "subject": list(selection.subjects),
        "given": layout.schema,
        "found_message": found.message if found else "",
    }


def _check_settings(table: str, layout: TableLayout, selection: Selection, earlier: dict[str, Any]) -> None:
    """Raise BadInput when a table was exported with other settings than this run's. earlier: those of its
    checkpoint."""
    for name, value in _build_settings(layout, selection).items():
        if name in ("given", "found_message"):
            continue
        if name == "schema":
            if layout.schema and layout.schema != earlier.get("given"):
                raise BadInput(f"{table} was exported with another --schema", "use the same one")
        elif earlier.get(name, type(value)()) != value:  # a table may be older than a setting
            flag = "--" + name.replace("_", "-")
            raise BadInput(
                f"{table} was exported with other {flag}: {_format_setting(earlier.get(name))}",
                "use the same, or another folder",
            )


def _format_setting(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return str(value) or "none"
