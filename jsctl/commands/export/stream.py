"""`jsctl export stream`."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from jsctl.base.loops import run_in_loop
from jsctl.base.signals import signals_as_interrupts
from jsctl.base.units import SECOND
from jsctl.commands.cli import DURATION, SIZE, argument, command, destructive, option
from jsctl.commands.export.answers import add_answer, query_options
from jsctl.commands.export.destination import (
    check_destination,
    confirm_tables,
    open_target,
    parse_destination,
    prepare,
    table_options,
)
from jsctl.commands.export.display import ExportDisplay
from jsctl.commands.export.options import DecodeOptions, SparkOptions, decode_options, spark_options
from jsctl.commands.export.ranges import RangeOptions, range_options
from jsctl.commands.picking.pick import validate_stream_name
from jsctl.commands.places.targets import resolve_targets
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.spark.export import formats
from jsctl.spark.export.catalog_table import OF_STREAM, TABLE_FORMATS
from jsctl.spark.export.engines import EngineStart, SparkStart
from jsctl.spark.export.layout import TableLayout
from jsctl.spark.export.stream_plan import build_source_options, list_stream_sources
from jsctl.spark.export.stream_run import StreamExportOptions, StreamExportRun
from jsctl.spark.export.task_pool import TaskPool
from jsctl.spark.session.session import check_packages
from jsctl.spark.source.options import parse_read_options
from jsctl.views.export import export as view
from jsctl.views.result import Result


@dataclass(frozen=True, slots=True)
class Options:
    """The flags of `export stream`."""

    stream: tuple[str, ...]
    to: str
    table: str
    mode: str
    format: str
    incremental: bool
    backfill: bool
    follow: bool
    every: int  #: ns
    range: RangeOptions
    layout: Mapping[str, Any]  #: options of a TableLayout
    decoding: DecodeOptions
    sql: str
    limit: int
    verify: bool
    force: bool
    engine: str
    spark: SparkOptions

    def __post_init__(self) -> None:
        format = formats.parse_format(self.format or "parquet")
        check_destination(self.to, self.table, self.mode, self.format)
        if self.mode == "merge":
            raise BadInput("--mode merge is for buckets, which have keys", "use append or overwrite")
        if self.mode == "overwrite" and self.incremental:
            raise BadInput("--mode overwrite and --incremental cannot be used together", "use --mode append")
        formats_that_continue = TABLE_FORMATS if self.table else formats.FILE_FORMATS
        if (self.incremental or self.follow or self.backfill) and format not in formats_that_continue:
            other = f", or --table with {' or '.join(TABLE_FORMATS)}"
            raise BadInput(
                f"--incremental, --follow and --backfill cannot add to a table in {format}",
                f"use {', '.join([*formats_that_continue][:4])}{'' if self.table else other}",
            )
        if self.verify and self.table and format not in TABLE_FORMATS:
            raise BadInput(
                f"--verify cannot be used with --table in {format}, which keeps no position",
                f"use {' or '.join(TABLE_FORMATS)}",
            )
        if self.follow and self.range.has_end:
            raise BadInput("--follow cannot be used with --until and --to-seq", "it has no end")
        self._check_backfill()
        if self.every <= 0:
            raise BadInput("--every must be more than 0")
        if self.engine == "arrow":
            self._check_arrow(format)

    def _check_arrow(self, format: str) -> None:
        spark = self.spark
        for name, is_there in {
            "--table": self.table,
            f"--format {format}": format != "parquet",
            f"--to {self.to}": self.to and not isinstance(parse_destination(self.to, ""), Path),
            "--decode json without --schema": self.decoding.decode == "json" and not self.decoding.schema,
            "--decode variant": self.decoding.decode == "variant",
            "--backfill": self.backfill,
            "--query": self.sql,
            "--verify": self.verify,
            "--master, --remote, --conf and --packages": any(
                (spark.master, spark.remote, spark.conf, spark.packages)
            ),
        }.items():
            if is_there:
                raise BadInput(
                    f"--engine arrow cannot be used with {name}", "leave --engine out: Spark does it"
                )

    def _check_backfill(self) -> None:
        if not self.backfill:
            return
        if self.incremental or self.follow or self.mode:
            raise BadInput(
                "--backfill cannot be used with --incremental, --follow and --mode",
                "it changes a table that they have written",
            )
        if not self.range.is_given:
            raise BadInput("--backfill needs a range", "--since and --until, or --from-seq and --to-seq")


@command(
    "stream",
    examples=[
        "jsctl export stream ORDERS --to orders",
        "jsctl export stream ORDERS --to orders --incremental --partition-by date --verify",
        "jsctl export stream ORDERS --to orders --decode json --query 'SELECT count(*) FROM ORDERS'",
        "jsctl export stream ORDERS --table lake.shop.orders --format delta --incremental --packages auto",
        "jsctl export stream ORDERS LOGS --to tables --context hub --js-domain hub --js-domain leaf --follow",
    ],
)
@argument("stream", metavar="STREAM...", nargs=-1, required=True)
@option("--to", metavar="DIR", default="", help="Folder or URI for the tables, one for each stream")
@table_options
@option(
    "--format",
    metavar="FORMAT",
    default="",
    help="parquet, json, csv, orc, xml, or another that Spark has (parquet); of a table: delta, iceberg, ...",
)
@option("--incremental", is_flag=True, help="Continue where the last run ended")
@option(
    "--backfill",
    is_flag=True,
    help="Write a range (--since, --from-seq, ...) of an existing table again, in one commit",
)
@option("--follow", is_flag=True, help="Continue until ctrl-C")
@option(
    "--every", type=DURATION, metavar="DURATION", default=5 * SECOND, help="With --follow: the interval (5s)"
)
@range_options
@option(
    "--partition-by",
    into="layout",
    metavar="WHAT",
    multiple=True,
    help="date, hour, subject:N for the Nth token, or field:NAME of decoded payloads",
)
@decode_options
@option("--headers", into="layout", is_flag=True, help="Add a column with the headers")
@option(
    "--sort-by", into="layout", type=click.Choice(["", "subject"]), help="Sort by subject within each file"
)
@option(
    "--file-size",
    into="layout",
    type=SIZE,
    metavar="SIZE",
    help="Messages in a file at most (64MiB, or 100,000)",
)
@query_options
@option("--verify", is_flag=True, help="Read the tables back and compare them with the streams")
@option(
    "--engine",
    type=click.Choice(["spark", "arrow"]),
    default="spark",
    help="arrow writes the same files without Spark's start: Parquet in a folder of this machine (spark)",
)
@destructive("Replace tables that exist, without asking", "Only show which tables would be written")
@spark_options
def stream(env: Env, options: Options) -> Result:
    """Write a folder below DIR for each stream, with the columns stream, subject, sequence, timestamp (UTC)
    and the payload. Data and the position at which --incremental continues are committed together: a run that
    is killed loses nothing and repeats nothing. With --decode, payloads that do not fit go into the column
    bad_payload. --context and --js-domain may be repeated; their names are then part of the names of the
    folders.
    """
    format = formats.parse_format(options.format or "parquet")
    place = parse_destination(options.to, options.table)
    if options.engine == "spark":
        start: EngineStart = SparkStart(prepare(options.spark, "jsctl export stream", place, format))
    else:
        check_packages()
        start = TaskPool()
    places = resolve_targets(env)
    sources = list_stream_sources(places, list(map(validate_stream_name, options.stream)))
    if len(places) > 1:
        from jsctl.monitor.report.watching import find_distinct  # asyncio, which one place does not need

        distinct = run_in_loop(find_distinct(places, env.say))
        sources = [source for source in sources if source.settings in distinct]
    export = StreamExportOptions(
        sources=sources,
        selection=options.range.build_selection(env, fail_on_bad=options.decoding.fail_on_bad),
        layout=TableLayout(**options.layout, **options.decoding.layout_fields()),
        incremental=options.incremental or options.backfill or options.mode == "append",
        backfill=options.backfill,
        follow=options.follow,
        every=options.every,
        verify=options.verify,
        sql=options.sql,
        limit=options.limit,
        start=start,
    )
    with start.starting():
        for source in sources:
            parse_read_options(build_source_options(source, export.selection), settings=source.settings)
        export.layout.check()  # may import pyarrow
    mode = "merge" if options.backfill else options.mode
    target = open_target(place, format, mode, [source.table for source in sources], OF_STREAM)
    with signals_as_interrupts(), StreamExportRun(export, target, ExportDisplay(env)) as run:
        tables = run.list_existing_tables()
        existing = [] if export.incremental else tables
        only_here = 0
        if existing or env.dry_run:
            only_here = run.count_only_here(run.plan(), existing)  # errors come before the question
        confirm_tables(env, target, existing, force=options.force, only_here=only_here)
        exported = run.run()
        duration = int(exported.seconds * SECOND)
        result = view.streams(exported.outcomes, exported.failures, str(place), duration)
        if exported.answer is None:
            return result
        return add_answer(env, result, exported.answer, options.limit, view.closing(result.data))
