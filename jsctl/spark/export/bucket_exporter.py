"""Export key-value and object buckets: the latest revisions, or all that the bucket has, as a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jsctl import loops
from jsctl.contexts.settings import Settings
from jsctl.errors import ApiError, ExitStatus, JsctlError, NotFound
from jsctl.nats import login
from jsctl.spark.export import shared_folder
from jsctl.spark.export.exported_tables import read_table
from jsctl.spark.export.formats import spark_options
from jsctl.spark.export.job_errors import job_error
from jsctl.spark.export.layout import flatten_for_format
from jsctl.spark.export.message_reads import read_frame
from jsctl.spark.export.stream_target import StreamTarget
from jsctl.spark.session.folders import write_path
from jsctl.spark.source.options import parse_read_options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class BucketSource:
    """A bucket to export, to a table of its name.

    kind: the option of the data source that names it, `bucket` or `objects`. keys: only these, which may
    hold wildcards; all without any. history: all revisions, not only the latest of each key.
    """

    settings: Settings
    bucket: str
    kind: str = "bucket"
    keys: tuple[str, ...] = ()
    history: bool = False

    @property
    def options(self) -> dict[str, str]:
        """Those of the data source, without the connection's."""
        options = {self.kind: self.bucket, "history": "all" if self.history else "latest"}
        return options | ({"keys": ",".join(self.keys)} if self.keys else {})


def check(sources: Sequence[BucketSource]) -> None:
    """Raise NotFound unless there are all buckets, BadInput for wrong names and keys, Unreachable."""
    from jsctl.spark.source.batch_reader import JetStreamReader

    for source in sources:
        settings = loops.run(login.with_files(source.settings))
        try:
            JetStreamReader(parse_read_options(source.options, settings=settings)).partitions()
        except ApiError as error:
            if error.status is not ExitStatus.NOT_FOUND:
                raise
            raise NotFound(
                f"there is no bucket {source.bucket}", "jsctl stream ls --all shows their streams"
            ) from None


def export(spark: "SparkSession", source: BucketSource, target: StreamTarget) -> int:
    """Replace the table of a bucket, and return its number of rows. Raises JsctlError."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    counts = Observation()
    try:
        frame = read_frame(spark, source.settings, f"jetstream_{source.bucket}", source.options)
        observed = frame.observe(counts, F.count(F.lit(1)).alias("rows"), F.max("revision").alias("last"))
        table = flatten_for_format(observed, target.format)
        with target.commit(source.bucket, replace=True) as (folder, checkpoint):
            writer = table.write.format(target.format).options(**spark_options(target.format))
            writer.mode("append").save(write_path(folder))
            rows = int(counts.get["rows"])
            shared_folder.check_visible(
                spark, folder, rows, lambda: read_table(spark, folder, target.format, table.schema)
            )
            checkpoint |= {
                "created": "",
                "from": 0,
                "next": int(counts.get["last"] or 0) + 1,
                "exported": rows,
                "settings": source.options,
                "columns": table.schema.jsonValue(),
            }
    except JsctlError:
        raise
    except Exception as error:
        raise job_error(error) from None
    return rows
