"""A range of a table, written again in one commit, without a change of its position.

Rows whose messages the stream still has are replaced; all others stay, as they may be nowhere else.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from jsctl.jetstream.message.payload import name_of_base64
from jsctl.spark.decoding.model import BAD_PAYLOAD
from jsctl.spark.export import shared_folder
from jsctl.spark.export.catalog_table import Counts, Merge
from jsctl.spark.export.stream_plan import ReadPlan
from jsctl.spark.export.table_files import SparkFiles, write_frame
from jsctl.spark.export.table_target import TableTarget
from jsctl.spark.export.targets import FoldersTarget, read_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_IS_NEW, _RANK = "_jsctl_new", "_jsctl_rank"


def merge_rows(target: TableTarget, table: str, rows: "DataFrame", read_plan: ReadPlan) -> Counts:
    """Merge rows into a table of a catalog; return what it then has of the plan. Raises what
    `TableWrite.write` raises."""
    target.merge = Merge(("stream", "sequence"), "true")
    with target.commit(table) as (write, _):
        write.write(rows, ())
        return write.count(read_plan.start, read_plan.end)


def replace_rows(
    spark: "SparkSession",
    target: FoldersTarget,
    table: str,
    files: SparkFiles,
    read_plan: ReadPlan,
    checkpoint: dict[str, Any],
    check_bad: Callable[[int], None],
) -> Counts:
    """Write a table again, with these rows in the place of those with the same sequences; return what was
    read.

    files: the rows. checkpoint: of the table, of which the numbers are set here. check_bad: raises an error
    for too many payloads that cannot be decoded. Raises JsctlError, what Spark raises, and changes nothing
    then.
    """
    from pyspark.sql import Observation, Window
    from pyspark.sql import functions as F

    new = files.table
    old = read_rows(spark, target, table, new.schema)
    is_planned = (F.col("sequence") >= read_plan.start) & (F.col("sequence") < read_plan.end)
    both = (
        old.where(is_planned)
        .withColumn(_IS_NEW, F.lit(False))
        .unionByName(new.withColumn(_IS_NEW, F.lit(True)))
    )
    newest = Window.partitionBy("sequence").orderBy(F.desc(_IS_NEW))
    merged = both.withColumn(_RANK, F.row_number().over(newest)).where(F.col(_RANK) == 1).drop(_IS_NEW, _RANK)
    bad = next((name for name in (BAD_PAYLOAD, name_of_base64(BAD_PAYLOAD)) if name in new.columns), "")
    whole = Observation()
    rows = (
        old.where(~is_planned)
        .unionByName(merged)
        .observe(
            whole,
            F.count(F.lit(1)).alias("rows"),
            (F.count(bad) if bad else F.sum(F.lit(0))).alias("bad"),
        )
    )
    with target.commit(table, replace=True) as (folder, new_checkpoint):
        rows = rows.sortWithinPartitions(*files.layout.full_order)
        write_frame(rows, target.format, folder, target.save_mode, files.layout)
        count = int(whole.get["rows"])
        read_bad = int(files.decoded.get["bad"]) if files.decoded else 0
        check_bad(read_bad)
        shared_folder.check_visible(
            spark, folder, count, lambda: read_rows(spark, target, table, new.schema, folder)
        )
        numbers = {"exported": count, "bad": int(whole.get["bad"] or 0), "columns": new.schema.jsonValue()}
        if checkpoint.get("deleted") is not None:
            span = int(checkpoint["next"]) - int(checkpoint["from"])
            numbers["deleted"] = span - count - int(checkpoint.get("lost", 0))
        new_checkpoint.update(checkpoint | numbers)
    read = files.read.get
    return Counts(int(read["rows"]), read["first"], read["last"], read["bytes"] or 0, read_bad)
