"""Replacing the files of an exported table by fewer and larger ones, which hold the same rows."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jsctl.errors import JsctlError
from jsctl.spark.export import shared_folder
from jsctl.spark.export.exported_tables import read_exported, read_table
from jsctl.spark.export.job_errors import job_error
from jsctl.spark.export.layout import TableLayout
from jsctl.spark.export.table_files import write_frame
from jsctl.spark.export.targets import FoldersTarget
from jsctl.spark.session.hadoop import Place, list_files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Compaction:
    """What was done to a table. before, after: numbers of files. bytes: of the files before."""

    table: str
    before: int
    after: int
    bytes: int
    rows: int


def write_compacted(spark: "SparkSession", target: FoldersTarget, table: str, file_size: int) -> Compaction:
    """Write a table again in files of about this many bytes, if that makes fewer files; a partition keeps
    its own.

    The target is locked. A killed run leaves the old files or the new ones. Raises JsctlError.
    """
    checkpoint = target.read_checkpoint(table)
    if checkpoint is None:
        raise JsctlError(f"{target.path} has no table {table}")
    folder = target.path / table
    sizes = _list_sizes(folder)
    partitions = {partition for partition, _ in sizes}
    wanted = sum(
        math.ceil(sum(size for name, size in sizes if name == partition) / file_size)
        for partition in partitions
    )
    total = sum(size for _, size in sizes)
    rows = int(checkpoint["exported"])
    if len(sizes) <= max(wanted, 1):
        return Compaction(table, len(sizes), len(sizes), total, rows)
    try:
        frame = read_exported(spark, folder, target.format, checkpoint)
        layout = TableLayout(partition_by=tuple(checkpoint["settings"].get("partition_by") or ()))
        names = [partition.name for partition in layout.partitions]
        arranged = _arrange(frame, names, math.ceil(total / file_size))
        with target.commit(table, replace=True) as (new, new_checkpoint):
            write_frame(arranged, target.format, new, target.save_mode, layout)
            shared_folder.check_visible(
                spark, new, rows, lambda: read_table(spark, new, target.format, frame.schema)
            )
            files = target.list_uncommitted(table)
            written = read_table(spark, new, target.format, frame.schema, files).count()
            if written != frame.count():
                raise JsctlError(
                    f"{table} changed while it was written again", "nothing was replaced; try again"
                )
            new_checkpoint.update(checkpoint)
    except Exception as error:
        raise job_error(error) from None
    return Compaction(table, len(sizes), len(_list_sizes(folder)), total, rows)


def _arrange(frame: "DataFrame", names: list[str], files: int) -> "DataFrame":
    """Return rows in as many parts as there are to be files; in the order of the stream, if they have one."""
    order = "sequence" if "sequence" in frame.columns else frame.columns[0]
    if names:
        return frame.repartition(max(files, 1), *names).sortWithinPartitions(*names, order)
    return (
        frame.coalesce(1).sortWithinPartitions(order)
        if files <= 1
        else frame.repartitionByRange(files, order).sortWithinPartitions(order)
    )


def _list_sizes(folder: Place) -> list[tuple[str, int]]:
    """Return the partition and the size of each file of a table."""
    split = [(*file.name.rpartition("/")[::2], file.size) for file in list_files(folder)]
    return [(partition, size) for partition, name, size in split if not name.startswith(("_", "."))]
