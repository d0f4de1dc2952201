"""Exports of key-value and object buckets: the latest revisions, or all of them, as a table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from jsctl.contexts.settings import Settings
from jsctl.errors import JsctlError
from jsctl.spark.decoding.model import BAD_PAYLOAD
from jsctl.spark.export.catalog_table import Merge
from jsctl.spark.export.found_schema import infer_schema, say_rounding
from jsctl.spark.export.job_errors import job_error
from jsctl.spark.export.layout import PLAIN, TableLayout, check_bad, decode_data
from jsctl.spark.export.message_reads import create_reader, read_frame
from jsctl.spark.export.stream_plan import format_request_timeout
from jsctl.spark.export.table_files import replace_table
from jsctl.spark.export.table_target import TableTarget
from jsctl.spark.export.targets import TablesTarget
from jsctl.spark.export.text_formats import flatten_for_format
from jsctl.spark.source import plan as source_plan
from jsctl.spark.source.options import parse_read_options
from jsctl.spark.source.plan import StreamState
from jsctl.spark.source.planning import with_connection
from jsctl.spark.source.range_reader import DataLoss

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class BucketSource:
    """A bucket to export, to a table of its name.

    kind: the option of the data source that names it, `bucket` or `objects`. keys: to export, with or without
    wildcards; empty for all. history: export all revisions, not only the latest of each key. layout: how
    values are decoded. fail_on_bad: number of values that cannot be decoded with which it fails, 0 for none.
    """

    settings: Settings
    bucket: str
    kind: str = "bucket"
    keys: tuple[str, ...] = ()
    history: bool = False
    layout: TableLayout = PLAIN
    fail_on_bad: int = 0

    @property
    def options(self) -> dict[str, str]:
        """The options of the data source, except the connection's. Values are not decoded until their fields
        are known."""
        options = {self.kind: self.bucket, "history": "all" if self.history else "latest"}
        if self.keys:
            options["keys"] = ",".join(self.keys)
        layout = self.layout
        if layout.can_be_bad and not self.finds_fields:
            options |= {"decode": layout.decode, "schema": layout.schema, "message": layout.message}
            options |= {"decompress": layout.decompress, "registry": layout.registry}
            options["keepData"] = str(layout.keep_data).lower()
        return {name: text for name, text in options.items() if text not in ("", "false")}

    @property
    def read_options(self) -> dict[str, str]:
        """The options, with the timeout of requests."""
        return {**self.options, "requestTimeout": format_request_timeout(self.settings)}

    @property
    def finds_fields(self) -> bool:
        """Whether the fields of the table have to be found in the values."""
        return self.layout.decode == "json" and not self.layout.schema


def check(sources: Sequence[BucketSource]) -> None:
    """Raise ApiError unless all buckets exist, BadInput for wrong names and keys, Unreachable."""
    for source in sources:
        create_reader(source.settings, source.read_options).partitions()


def export(
    spark: "SparkSession", source: BucketSource, target: TablesTarget, notify: Callable[[str], None]
) -> tuple[int, int]:
    """Replace the table of a bucket, or do with a table of a catalog what its mode says; return the number of
    rows that were written, and of values that could not be decoded.

    notify: shows a sentence to people. Raises JsctlError.
    """
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    counts = Observation()
    try:
        if source.finds_fields:
            schema, rounding = infer_schema(_read_values(spark, source))
            source = replace(source, layout=source.layout._replace(schema=schema))
            if rounding:
                notify(say_rounding(source.bucket, rounding))
        stream = _fetch_stream(source) if isinstance(target, TableTarget) else None
        frame = _read_source(spark, source)
        if stream and isinstance(target, TableTarget):
            frame = _select_new(frame, source, target, stream)
        bad = F.count(BAD_PAYLOAD) if source.layout.can_be_bad else F.sum(F.lit(0))
        observed = frame.observe(
            counts,
            F.count(F.lit(1)).alias("rows"),
            F.max("revision").alias("last"),
            bad.alias("bad"),
        )
        table = flatten_for_format(observed, target.format)
        created, end = (stream.created, stream.end) if stream else ("", 0)
        check = partial(check_bad, source.bucket, source.fail_on_bad)
        if source.fail_on_bad and isinstance(target, TableTarget):  # which commits rows at once
            check(frame.where(f"{BAD_PAYLOAD} IS NOT NULL").count())
        return replace_table(
            *(spark, target, source.bucket, table, counts, source.options),
            created=created,
            end=end,
            check_bad=check,
        )
    except JsctlError:
        raise
    except Exception as error:
        raise job_error(error) from None


def _fetch_stream(source: BucketSource) -> StreamState:
    options = parse_read_options(source.read_options, settings=source.settings)
    return with_connection(options, lambda connection: source_plan.fetch_stream(connection, options))


def _select_new(
    frame: "DataFrame", source: BucketSource, target: TableTarget, stream: StreamState
) -> "DataFrame":
    """Return the rows that a mode writes to a table, and set how they are merged.

    What is appended ends where the bucket ended before it was read, which is the position of the next run.
    """
    checkpoint = target.read_checkpoint(source.bucket) if target.mode == "append" else None
    if target.mode == "append":
        if checkpoint and checkpoint["created"] != stream.created:
            raise DataLoss(f"bucket {source.bucket} was created again", "append to another table")
        return frame.where(f"revision >= {(checkpoint or {}).get('next', 0)} AND revision < {stream.end}")
    if target.mode == "merge":
        # Keys that the bucket no longer has, unless they were merged by a run that began later than this one.
        is_earlier = f"t.revision < {stream.end} OR t.created < TIMESTAMP '{stream.created}'"
        removed = f"t.{target.rows.select(source.bucket)} AND ({is_earlier})"
        newer = "(s.created > t.created OR s.revision > t.revision)"
        target.merge = Merge(("bucket", "key"), newer, "" if source.keys else removed)
    return frame


def _read_source(spark: "SparkSession", source: BucketSource) -> "DataFrame":
    return read_frame(spark, source.settings, f"jetstream_{source.bucket}", source.read_options)


def _read_values(spark: "SparkSession", source: BucketSource) -> "DataFrame":
    """Return the values of keys, decompressed, as the column `data`."""
    values = _read_source(spark, source).where("operation = 'put'").selectExpr("value AS data")
    if source.layout.decompress:
        values = decode_data(values, source.layout._replace(decode="", keep_data=False), [])
    return values
