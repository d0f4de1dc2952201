"""The places that exports write to: folders of this machine, URIs of Hadoop's file systems, and tables of
catalogs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jsctl.spark.export.catalog_table import TableWrite
from jsctl.spark.export.exported_tables import read_table
from jsctl.spark.export.object_target import ObjectTarget
from jsctl.spark.export.stream_target import KIND, StreamTarget
from jsctl.spark.export.table_target import TableTarget
from jsctl.spark.export.target import Target
from jsctl.spark.session.hadoop import HadoopPath, Place, StoredFile

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

FolderTarget = Target | ObjectTarget
FoldersTarget = StreamTarget | ObjectTarget
TablesTarget = FoldersTarget | TableTarget
Destination = Place | TableWrite
"""Where a table is written to: a folder, or a table of a catalog."""


def open_folder(place: Place, kind: str, format: str, tables: Sequence[str]) -> FolderTarget:
    """Return the target of an export that writes its tables together. Writes nothing. Raises BadInput when
    something else is there."""
    if isinstance(place, HadoopPath):
        return ObjectTarget(place, kind, format, tables)
    return Target.open(place, kind, format, tables)


def open_tables(place: Place, format: str, tables: Sequence[str]) -> FoldersTarget:
    """Return the target of an export of streams or buckets. Writes nothing. Raises BadInput when something
    else is there."""
    if isinstance(place, HadoopPath):
        return ObjectTarget(place, KIND, format, tables)
    return StreamTarget.open(place, KIND, format, tables)


def read_rows(
    spark: "SparkSession",
    target: TablesTarget,
    table: str,
    schema: "StructType",
    folder: Destination | None = None,
    files: Sequence[StoredFile] | None = None,
) -> "DataFrame":
    """Return the rows of an exported table. folder, files: that are read in its place, before they are
    committed. Raises what Spark raises, JsctlError."""
    if isinstance(target, TableTarget):
        return target.read(spark, schema)
    if folder is None or isinstance(folder, TableWrite):
        folder = target.path / table
    return read_table(spark, folder, target.format, schema, files)
