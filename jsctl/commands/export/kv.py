"""`jsctl export kv` and `jsctl export objects`."""

import time
from contextlib import ExitStack
from dataclasses import dataclass

import click

from jsctl.commands.cli import argument, command, destructive, option
from jsctl.commands.export.answers import add_answer, query_options
from jsctl.commands.export.destination import (
    check_destination,
    confirm_tables,
    open_target,
    parse_destination,
    prepare,
    table_options,
)
from jsctl.commands.export.options import DecodeOptions, SparkOptions, decode_options, spark_options
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError
from jsctl.spark.export import bucket_exporter
from jsctl.spark.export import query as spark_query
from jsctl.spark.export.bucket_exporter import BucketSource
from jsctl.spark.export.catalog_table import OF_BUCKET, TABLE_FORMATS
from jsctl.spark.export.layout import TableLayout
from jsctl.spark.export.target import FORMATS
from jsctl.spark.session.hadoop import connect
from jsctl.views.export import export as view
from jsctl.views.result import Result


@dataclass(frozen=True, slots=True)
class Options:
    """The flags of `export kv`."""

    buckets: tuple[str, ...]
    to: str
    table: str
    mode: str
    format: str
    history: bool
    keys: tuple[str, ...]
    decoding: DecodeOptions
    sql: str
    limit: int
    force: bool
    spark: SparkOptions

    def __post_init__(self) -> None:
        check_destination(self.to, self.table, self.mode, self.format)
        if self.to and self.format in TABLE_FORMATS:
            raise BadInput(f"--format {self.format} is for --table", f"use {', '.join(FORMATS)} with --to")
        if self.table and self.format in ("json", "csv"):
            raise BadInput(f"--table cannot be in {self.format}", "use delta, iceberg, or parquet")
        if self.mode in ("append", "merge") and self.format not in TABLE_FORMATS:
            raise BadInput(
                f"--mode {self.mode} cannot be used with {self.format}", f"use {' or '.join(TABLE_FORMATS)}"
            )
        if self.mode == "merge" and self.history:
            raise BadInput(
                "--mode merge and --history cannot be used together",
                "a merged table has one row for each key: use --mode append for all changes",
            )


@dataclass(frozen=True, slots=True)
class ObjectOptions:
    """The flags of `export objects`."""

    buckets: tuple[str, ...]
    to: str
    format: str
    history: bool
    force: bool
    spark: SparkOptions


@command(
    "kv",
    examples=[
        "jsctl export kv SETTINGS --to tables",
        "jsctl export kv SETTINGS --to changes --history",
        "jsctl export kv SETTINGS --table lake.shop.settings --format delta --mode merge --packages auto",
        "jsctl export kv SETTINGS --to tables --decode json --schema 'color STRING, size INT'",
        "jsctl export kv SETTINGS --to tables --query 'SELECT key, revision FROM SETTINGS'",
    ],
)
@argument("buckets", metavar="BUCKET...", nargs=-1, required=True, completes="bucket")
@option("--to", metavar="DIR", default="", help="Folder or URI for the tables, one for each bucket")
@table_options
@option(
    "--format",
    type=click.Choice(["", *FORMATS, *TABLE_FORMATS]),
    default="",
    help="Format of the files (parquet), or of the table",
)
@option("--history", is_flag=True, help="All changes that the bucket keeps, not only the latest of each key")
@option(
    "--key",
    "keys",
    selects=True,
    metavar="KEY",
    multiple=True,
    help="Only these keys, with * and >; may be repeated",
)
@decode_options
@query_options
@destructive("Replace tables that exist, without asking", "Only show which tables would be written")
@spark_options
def kv(env: Env, options: Options) -> Result:
    """Write a table for each bucket with the columns bucket, key, value, revision, operation (put, delete,
    purge) and created. Without --history, a deleted key has a row that says so, as long as the bucket keeps
    its marker. With --decode, the columns of the values follow the others, and values that do not fit go
    into the column bad_payload.
    """
    settings = env.settings()
    keys = tuple(dict.fromkeys(options.keys))
    layout = TableLayout(**options.decoding.layout_fields())
    layout.check()
    sources = [
        BucketSource(
            *(settings, name),
            keys=keys,
            history=options.history,
            layout=layout,
            fail_on_bad=options.decoding.fail_on_bad or 0,
        )
        for name in options.buckets
    ]
    return _export(env, sources, options, options.sql, options.limit)


@command("objects", examples=["jsctl export objects FILES --to tables"])
@argument("buckets", metavar="BUCKET...", nargs=-1, required=True, completes="object bucket")
@option("--to", metavar="DIR", required=True, help="Folder or URI for the tables, one for each bucket")
@option("--format", type=click.Choice(FORMATS), default="parquet", help="Format of the files (parquet)")
@option(
    "--history", is_flag=True, help="All changes that the bucket keeps, not only the latest of each object"
)
@destructive("Replace tables that exist, without asking", "Only show which tables would be written")
@spark_options
def objects(env: Env, options: ObjectOptions) -> Result:
    """Write a table for each object bucket with the metadata of its objects: bucket, name, description, size,
    chunks, digest, metadata, link, revision, operation and created. The objects themselves are not read.
    """
    settings = env.settings()
    sources = [BucketSource(settings, name, "objects", history=options.history) for name in options.buckets]
    return _export(env, sources, options)


def _export(
    env: Env, sources: list[BucketSource], options: Options | ObjectOptions, sql: str = "", limit: int = 0
) -> Result:
    names = [source.bucket for source in sources]
    if len(set(names)) < len(names):
        raise BadInput("a bucket is named more than once", "name each bucket once")
    start = time.monotonic_ns()
    table, mode = (options.table, options.mode) if isinstance(options, Options) else ("", "")
    format = options.format or "parquet"
    place = parse_destination(options.to, table)
    session = prepare(options.spark, "jsctl export kv", place, format)
    target = open_target(place, format, mode, names, OF_BUCKET)
    bucket_exporter.check(sources)
    with ExitStack() as stack:
        spark = stack.enter_context(session.open()) if target.needs_session else None
        if spark:
            target.connect(spark)
        existing = [] if mode in ("append", "merge") else target.list_existing_tables()
        confirm_tables(env, target, existing, force=options.force)
        stack.enter_context(target.lock())
        spark = spark or stack.enter_context(session.open())
        if sql:
            spark_query.check_tables(spark, spark_query.check_query(spark, sql), target.path, target.tables)
        exported = {
            source.bucket: bucket_exporter.export(spark, source, target, env.say) for source in sources
        }
        result = _build_result(sources, exported, str(place), time.monotonic_ns() - start)
        if not sql:
            return result
        try:
            places = {} if isinstance(place, str) else {"": connect(place, spark)}
            answer = spark_query.query(spark, places, sql, limit)
        except JsctlError:  # the export is complete even so
            env.say(view.bucket_summary(result))
            raise
    return add_answer(env, result, answer, limit, view.bucket_summary(result))


def _build_result(
    sources: list[BucketSource], exported: dict[str, tuple[int, int]], place: str, duration: int
) -> Result:
    rows = {name: count for name, (count, _) in exported.items()}
    is_decoded = any(source.layout.can_be_bad for source in sources)
    bad = {name: count for name, (_, count) in exported.items()} if is_decoded else {}
    return view.buckets(rows, bad, place, duration)
