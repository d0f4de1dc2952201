"""`jsctl export compact`."""

import time
from dataclasses import dataclass

from jsctl.base.units import SECOND
from jsctl.commands.cli import SIZE, argument, command, option
from jsctl.commands.export.options import SparkOptions, spark_options
from jsctl.env import Env
from jsctl.errors import BadInput, NotFound
from jsctl.spark.export.compaction import write_compacted
from jsctl.spark.export.stream_target import FILE_FORMATS, KIND
from jsctl.spark.export.target import read_marker
from jsctl.spark.export.targets import open_tables
from jsctl.spark.session.folders import parse_place
from jsctl.spark.session.hadoop import connect
from jsctl.views.export import export as view
from jsctl.views.result import Result


@dataclass(frozen=True, slots=True)
class Options:
    """The flags and arguments of `export compact`."""

    tables: tuple[str, ...]
    to: str
    file_size: int  #: bytes
    spark: SparkOptions

    def __post_init__(self) -> None:
        if self.file_size < 1:
            raise BadInput("--file-size must be 1 or more")


@command(
    "compact",
    examples=["jsctl export compact --to orders", "jsctl export compact ORDERS --to orders --file-size 64MB"],
)
@argument("tables", metavar="[TABLE...]", nargs=-1)
@option("--to", metavar="DIR", required=True, help="Folder or URI of an export of streams or buckets")
@option("--file-size", type=SIZE, metavar="SIZE", default=256 << 20, help="About the size of a file (256MiB)")
@spark_options
def compact(env: Env, options: Options) -> Result:
    """Write tables again in fewer and larger files, those of a partition within it, in the order of the
    stream. The rows stay as they are, and --incremental continues where it was. Tables whose files cannot
    become fewer stay untouched.
    """
    place = parse_place(options.to, "--to")
    start = time.monotonic()
    with options.spark.prepare("jsctl export compact", place).open() as spark:
        source = connect(place, spark)
        marker = read_marker(source)
        if marker is None or marker.get("kind") != KIND:
            raise NotFound(
                f"{place} holds no export of streams or buckets", "name the folder of jsctl export --to"
            )
        tables = list(options.tables or marker["tables"])
        if unknown := [name for name in tables if name not in marker["tables"]]:
            raise NotFound(f"{place} has no table {unknown[0]}", f"it has {', '.join(marker['tables'])}")
        if marker["format"] not in FILE_FORMATS:
            raise BadInput(
                f"{place} holds {marker['format']}, which has a way of its own", "use OPTIMIZE in SQL"
            )
        target = open_tables(place, marker["format"], tables)
        target.connect(spark)
        with target.lock():
            done = [
                write_compacted(spark, target, name, options.file_size)
                for name in target.list_existing_tables()
            ]
    return view.compacted(done, str(place), int((time.monotonic() - start) * SECOND))
