"""`jsctl export stream`."""

from dataclasses import dataclass

import click

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
from jsctl.commands.options.past_time import parse_time_flag
from jsctl.commands.picking.pick import validate_stream_name
from jsctl.commands.places.targets import resolve_targets
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.spark.export import formats
from jsctl.spark.export.catalog_table import OF_STREAM, TABLE_FORMATS
from jsctl.spark.export.layout import TableLayout, parse_partitions
from jsctl.spark.export.stream_plan import Selection, build_source_options, list_stream_sources
from jsctl.spark.export.stream_run import StreamExportOptions, StreamExportRun
from jsctl.spark.export.stream_target import FILE_FORMATS
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
    follow: bool
    every: int  #: ns
    since: str
    until: str
    from_seq: int | None
    to_seq: int | None
    subjects: tuple[str, ...]
    partition_by: tuple[str, ...]
    decoding: DecodeOptions
    headers: bool
    sort_by: str
    file_size: int  #: bytes, 0 for the usual size
    sql: str
    limit: int
    verify: bool
    fail_on_loss: bool
    fail_on_deleted: bool
    force: bool
    spark: SparkOptions

    def __post_init__(self) -> None:
        format = formats.parse_format(self.format or "parquet")
        check_destination(self.to, self.table, self.mode, self.format)
        if self.mode == "merge":
            raise BadInput("--mode merge is for buckets, which have keys", "use append or overwrite")
        if self.mode == "overwrite" and self.incremental:
            raise BadInput("--mode overwrite and --incremental cannot be used together", "use --mode append")
        formats_that_continue = TABLE_FORMATS if self.table else FILE_FORMATS
        if (self.incremental or self.follow) and format not in formats_that_continue:
            other = f", or --table with {' or '.join(TABLE_FORMATS)}"
            raise BadInput(
                f"--incremental and --follow cannot add to a table in {format}",
                f"use {', '.join(formats_that_continue[:4])}{'' if self.table else other}",
            )
        if self.verify and self.table and format not in TABLE_FORMATS:
            raise BadInput(
                f"--verify cannot be used with --table in {format}, which keeps no position",
                f"use {' or '.join(TABLE_FORMATS)}",
            )
        parse_partitions(self.partition_by)
        if self.follow and (self.until or self.to_seq is not None):
            raise BadInput("--follow cannot be used with --until and --to-seq", "it has no end")
        if self.file_size < 0:
            raise BadInput("--file-size must be 1 or more")
        if self.every <= 0:
            raise BadInput("--every must be more than 0")
        if self.fail_on_deleted and self.subjects:
            raise BadInput(
                "--fail-on-deleted and --subject cannot be used together",
                "deletions are seen only when all subjects are read",
            )
        self._check_range()

    def _check_range(self) -> None:
        for time, sequence, names in (
            (self.since, self.from_seq, "--since and --from-seq"),
            (self.until, self.to_seq, "--until and --to-seq"),
        ):
            if time and sequence is not None:
                raise BadInput(f"{names} cannot be used together", "use only one")
        for flag, sequence in (("--from-seq", self.from_seq), ("--to-seq", self.to_seq)):
            if sequence is not None and sequence < 1:
                raise BadInput(f"{flag} {sequence} is not a sequence", "sequences start at 1")
        if self.from_seq is not None and self.to_seq is not None and self.from_seq > self.to_seq:
            raise BadInput(f"--from-seq {self.from_seq} is after --to-seq {self.to_seq}")
        if any("," in subject for subject in self.subjects):
            raise BadInput("--subject takes one subject", "repeat the flag for more")


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
@option("--follow", is_flag=True, help="Continue until ctrl-C")
@option(
    "--every", type=DURATION, metavar="DURATION", default=5 * SECOND, help="With --follow: the interval (5s)"
)
@option("--since", metavar="TIME", default="", help="Start at a time, or this long ago (1h)")
@option("--until", metavar="TIME", default="", help="End before a time, or this long ago (1h)")
@option("--from-seq", type=int, metavar="SEQ", help="Start at this sequence")
@option("--to-seq", type=int, metavar="SEQ", help="End with this sequence")
@option(
    "--subject", "subjects", metavar="SUBJECT", multiple=True, help="Only these subjects; may be repeated"
)
@option("--partition-by", metavar="WHAT", multiple=True, help="date, hour, or subject:N for the Nth token")
@decode_options
@option("--headers", is_flag=True, help="Add a column with the headers")
@option("--sort-by", type=click.Choice(["", "subject"]), default="", help="Sort by subject within each file")
@option(
    "--file-size", type=SIZE, metavar="SIZE", default=0, help="Messages in a file at most (64MiB, or 100,000)"
)
@query_options
@option("--verify", is_flag=True, help="Read the tables back and compare them with the streams")
@option(
    "--fail-on-data-loss/--no-fail-on-data-loss",
    "fail_on_loss",
    default=True,
    help="Fail when the stream dropped messages before they were read (default)",
)
@option("--fail-on-deleted", is_flag=True, help="Fail when messages were deleted within the stream")
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
    session = prepare(options.spark, "jsctl export stream", place, format)
    sources = list_stream_sources(resolve_targets(env), list(map(validate_stream_name, options.stream)))
    export = StreamExportOptions(
        sources=sources,
        selection=_build_selection(env, options),
        layout=TableLayout(
            partition_by=tuple(dict.fromkeys(options.partition_by)),
            headers=options.headers,
            sort_by=options.sort_by,
            file_size=options.file_size,
            **options.decoding.layout_fields(),
        ),
        incremental=options.incremental or options.mode == "append",
        follow=options.follow,
        every=options.every,
        verify=options.verify,
        sql=options.sql,
        limit=options.limit,
        session=session,
    )
    for source in sources:
        parse_read_options(build_source_options(source, export.selection), settings=source.settings)
    export.layout.check()
    target = open_target(place, format, options.mode, [source.table for source in sources], OF_STREAM)
    with signals_as_interrupts(), StreamExportRun(export, target, ExportDisplay(env)) as run:
        tables = run.list_existing_tables()
        existing = [] if export.incremental else tables
        if existing or env.dry_run:
            run.plan()  # errors in the options come before the question
        confirm_tables(env, target, existing, force=options.force)
        exported = run.run()
        result = view.streams(exported.outcomes, str(place), int(exported.seconds * SECOND))
        if exported.answer is None:
            return result
        return add_answer(env, result, exported.answer, options.limit, view.closing(result.data))


def _build_selection(env: Env, options: Options) -> Selection:
    since, until = (
        parse_time_flag(env, "--since", options.since),
        parse_time_flag(env, "--until", options.until),
    )
    if since and until and since >= until:
        raise BadInput("--since must be before --until")
    return Selection(
        subjects=tuple(dict.fromkeys(options.subjects)),
        start=options.from_seq,
        end=None if options.to_seq is None else options.to_seq + 1,
        since=since,
        until=until,
        fail_on_loss=options.fail_on_loss,
        fail_on_deleted=options.fail_on_deleted,
    )
