"""The places that exports write to: folders of this machine, and URIs of Hadoop's file systems."""

from collections.abc import Sequence

from jsctl.spark.export.object_target import ObjectTarget
from jsctl.spark.export.stream_target import KIND, StreamTarget
from jsctl.spark.export.target import Target
from jsctl.spark.session.hadoop import HadoopPath, Place

FolderTarget = Target | ObjectTarget
TablesTarget = StreamTarget | ObjectTarget


def open_folder(place: Place, kind: str, format: str, tables: Sequence[str]) -> FolderTarget:
    """Return the target of an export that writes its tables together. Writes nothing. Raises BadInput when
    something else is there."""
    if isinstance(place, HadoopPath):
        return ObjectTarget(place, kind, format, tables)
    return Target.open(place, kind, format, tables)


def open_tables(place: Place, format: str, tables: Sequence[str]) -> TablesTarget:
    """Return the target of an export of streams or buckets. Writes nothing. Raises BadInput when something
    else is there."""
    if isinstance(place, HadoopPath):
        return ObjectTarget(place, KIND, format, tables)
    return StreamTarget.open_streams(place, format, tables)
