"""`jsctl export query`."""

import re
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import click

from jsctl.commands.cli import argument, command, option
from jsctl.commands.export.answers import show_answer
from jsctl.commands.export.options import SparkOptions, spark_options
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.spark.export import query as spark_query
from jsctl.spark.export.target import FORMATS
from jsctl.spark.export.targets import open_tables
from jsctl.spark.session.folders import parse_place
from jsctl.spark.session.hadoop import Place, connect
from jsctl.spark.session.session import SessionOptions
from jsctl.views.export import export as view
from jsctl.views.result import Result


@dataclass(frozen=True, slots=True)
class Options:
    """The flags and arguments of `export query`."""

    folders: tuple[str, ...]
    to: str
    format: str
    overwrite: bool
    limit: int
    spark: SparkOptions
    sql: str

    def __post_init__(self) -> None:
        if self.overwrite and not self.to:
            raise BadInput("--overwrite is for --to")


@command(
    "query",
    columns=(),
    examples=[
        'jsctl export query --from reports "SELECT stream, max(messages) FROM streams GROUP BY stream"',
        'jsctl export query --from reports "SELECT * FROM replication WHERE lag > 1000" --json',
        'jsctl export query --from eu=eu-tables --from us=us-tables "SHOW TABLES"',
        'jsctl export query --from tables --to sums "SELECT subject, count(*) AS n FROM ORDERS GROUP BY 1"',
    ],
)
@option(
    "--from",
    "folders",
    metavar="DIR",
    multiple=True,
    required=True,
    help="Folder or URI that an export wrote to; may be repeated as NAME=DIR, tables are then NAME_TABLE",
)
@option("--to", metavar="DIR", default="", help="Write the rows to the table results in this folder or URI")
@option(
    "--format", type=click.Choice(FORMATS), default="parquet", help="With --to: format of the files (parquet)"
)
@option("--overwrite", is_flag=True, help="With --to: replace results that are there")
@option("--limit", type=int, metavar="ROWS", default=1000, help="Show at most this many rows (1000)")
@spark_options
@argument("sql", label="SQL query")
def query(env: Env, options: Options) -> Result:
    """Query the folders below DIR, each a table of that name. SQL is a SELECT in Spark's dialect, SHOW TABLES
    or DESCRIBE.
    """
    places = _parse_places(options.folders)
    for place in places.values():
        if isinstance(place, Path):
            spark_query.find_tables(place)  # before the seconds that Spark takes to start
    if options.to:
        return _write(options, places)
    with options.spark.prepare("jsctl export query", *places.values()).open() as spark:
        connected = {prefix: connect(place, spark) for prefix, place in places.items()}
        answer = spark_query.query(spark, connected, options.sql, options.limit)
    return show_answer(env, answer, options.limit)


def _parse_places(texts: tuple[str, ...]) -> dict[str, Place]:
    """Return the folders by what the names of their tables begin with."""
    places: dict[str, Place] = {}
    for text in texts:
        named = None if Path(text).exists() else re.fullmatch(r"([A-Za-z]\w*)=(.+)", text, re.DOTALL)
        prefix, folder = (f"{named[1]}_", named[2]) if named else ("", text)
        if prefix in places:
            raise BadInput(
                f"--from is given twice {f'with the name {prefix[:-1]}' if prefix else 'without a name'}",
                "name them: --from eu=DIR --from us=DIR",
            )
        places[prefix] = parse_place(folder, "--from")
    return places


def _write(options: Options, places: dict[str, Place]) -> Result:
    start = time.monotonic_ns()
    place = parse_place(options.to, "--to")
    session: SessionOptions = options.spark.prepare("jsctl export query", place, *places.values())
    target = open_tables(place, options.format, [spark_query.RESULTS])
    with ExitStack() as stack:
        spark = None
        if target.needs_session:
            spark = stack.enter_context(session.open())
            target.connect(spark)
        if target.list_existing_tables() and not options.overwrite:
            raise BadInput(f"{place} has results already", "name another folder, or use --overwrite")
        stack.enter_context(target.lock())
        spark = spark or stack.enter_context(session.open())
        connected = {prefix: connect(one, spark) for prefix, one in places.items()}
        rows = spark_query.write(spark, connected, options.sql, target)
    duration = time.monotonic_ns() - start
    return view.buckets({spark_query.RESULTS: rows}, {}, str(place), duration)
