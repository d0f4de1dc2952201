"""`jsctl export compact`."""

import time

from jsctl.commands.cli import SIZE, argument, command, option
from jsctl.commands.export.options import SparkOptions, spark_options
from jsctl.env import Env
from jsctl.errors import BadInput, NotFound
from jsctl.spark.export.compaction import write_compacted
from jsctl.spark.export.formats import FILE_FORMATS
from jsctl.spark.export.stream_target import KIND
from jsctl.spark.export.target import read_marker
from jsctl.spark.export.targets import open_tables
from jsctl.spark.session.folders import parse_place
from jsctl.spark.session.hadoop import connect
from jsctl.views.export import export as view
from jsctl.views.result import Result


@command(
    "compact",
    examples=["jsctl export compact --to orders", "jsctl export compact ORDERS --to orders --file-size 64MB"],
)
@argument("tables", metavar="[TABLE...]", nargs=-1)
@option("--to", metavar="DIR", required=True, help="Folder or URI of an export of streams or buckets")
@option("--file-size", type=SIZE, metavar="SIZE", default=256 << 20, help="About the size of a file (256MiB)")
@spark_options
def compact(env: Env, tables: tuple[str, ...], to: str, file_size: int, spark: SparkOptions) -> Result:
    """Write tables again in fewer and larger files, those of a partition within it, in the order of the
    stream. The rows stay as they are, and --incremental continues where it was. Tables whose files cannot
    become fewer stay untouched.
    """
    if file_size < 1:
        raise BadInput("--file-size must be 1 or more")
    place = parse_place(to, "--to")
    start = time.monotonic_ns()
    with spark.prepare("jsctl export compact", place).open() as session:
        source = connect(place, session)
        marker = read_marker(source)
        if marker is None or marker.get("kind") != KIND:
            raise NotFound(
                f"{place} holds no export of streams or buckets", "name the folder of jsctl export --to"
            )
        names = list(tables or marker["tables"])
        if unknown := [name for name in names if name not in marker["tables"]]:
            raise NotFound(f"{place} has no table {unknown[0]}", f"it has {', '.join(marker['tables'])}")
        if marker["format"] not in FILE_FORMATS:
            raise BadInput(
                f"{place} holds {marker['format']}, which has a way of its own", "use OPTIMIZE in SQL"
            )
        target = open_tables(place, marker["format"], names)
        target.connect(session)
        with target.lock():
            done = [
                write_compacted(session, target, name, file_size) for name in target.list_existing_tables()
            ]
    return view.compacted(done, str(place), time.monotonic_ns() - start)
