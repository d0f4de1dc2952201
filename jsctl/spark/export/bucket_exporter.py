"""Exports of key-value and object buckets: the latest revisions, or all of them, as a table."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from jsctl.base import loops
from jsctl.contexts.settings import Settings
from jsctl.errors import JsctlError
from jsctl.nats import login
from jsctl.spark.decoding.model import BAD_PAYLOAD
from jsctl.spark.export.job_errors import job_error
from jsctl.spark.export.layout import TableLayout, decode_data, flatten_for_format, infer_schema
from jsctl.spark.export.message_reads import read_frame
from jsctl.spark.export.stream_plan import format_request_timeout
from jsctl.spark.export.table_files import replace_table
from jsctl.spark.export.targets import TablesTarget
from jsctl.spark.source.newest_schema import find_newest_schema
from jsctl.spark.source.options import parse_read_options

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


NOT_DECODED = TableLayout()


@dataclass(frozen=True, slots=True)
class BucketSource:
    """A bucket to export, to a table of its name.

    kind: the option of the data source that names it, `bucket` or `objects`. keys: to export, with or without
    wildcards; empty for all. history: export all revisions, not only the latest of each key. layout: how
    values are decoded.
    """

    settings: Settings
    bucket: str
    kind: str = "bucket"
    keys: tuple[str, ...] = ()
    history: bool = False
    layout: TableLayout = NOT_DECODED

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
    from jsctl.spark.source.batch_reader import JetStreamReader

    for source in sources:
        settings = loops.run(login.with_files(source.settings))
        JetStreamReader(
            parse_read_options(source.read_options, settings=settings, find_schema=find_newest_schema)
        ).partitions()


def export(spark: "SparkSession", source: BucketSource, target: TablesTarget) -> tuple[int, int]:
    """Replace the table of a bucket; return its number of rows, and of values that could not be decoded.

    Raises JsctlError.
    """
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    counts = Observation()
    try:
        if source.finds_fields:
            source = replace(source, layout=source.layout._replace(schema=_find_fields(spark, source)))
        frame = _read_source(spark, source)
        bad = F.count(BAD_PAYLOAD) if source.layout.can_be_bad else F.sum(F.lit(0))
        observed = frame.observe(
            counts,
            F.count(F.lit(1)).alias("rows"),
            F.max("revision").alias("last"),
            bad.alias("bad"),
        )
        table = flatten_for_format(observed, target.format)
        rows = replace_table(spark, target, source.bucket, table, counts, source.options)
    except JsctlError:
        raise
    except Exception as error:
        raise job_error(error) from None
    return rows, int(counts.get["bad"] or 0)


def _read_source(spark: "SparkSession", source: BucketSource) -> "DataFrame":
    return read_frame(spark, source.settings, f"jetstream_{source.bucket}", source.read_options)


def _find_fields(spark: "SparkSession", source: BucketSource) -> str:
    """Return the schema (DDL) of all values that are JSON objects. Raises BadInput when there are none."""
    values = _read_source(spark, source).where("operation = 'put'").selectExpr("value AS data")
    if source.layout.decompress:
        values = decode_data(values, source.layout._replace(decode="", keep_data=False), [])
    return infer_schema(values)
