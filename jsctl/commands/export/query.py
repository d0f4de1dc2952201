"""`jsctl export query`."""

from dataclasses import dataclass
from pathlib import Path

from jsctl.base.units import pluralize
from jsctl.commands.cli import argument, command, option
from jsctl.commands.export.options import SparkOptions, spark_options
from jsctl.env import Env
from jsctl.spark.export import query as spark_query
from jsctl.spark.session.folders import parse_place
from jsctl.spark.session.hadoop import connect
from jsctl.views.export import export as view
from jsctl.views.result import Result


@dataclass(frozen=True, slots=True)
class Options:
    """The flags and arguments of `export query`."""

    folder: str
    limit: int
    spark: SparkOptions
    sql: str


@command(
    "query",
    options=Options,
    examples=[
        'jsctl export query --from reports "SELECT stream, max(messages) FROM streams GROUP BY stream"',
        'jsctl export query --from reports "SELECT * FROM replication WHERE lag > 1000" --json',
    ],
)
@option("--from", "folder", metavar="DIR", required=True, help="Folder or URI that an export wrote to")
@option("--limit", type=int, metavar="ROWS", default=1000, help="Show at most this many rows (1000)")
@spark_options
@argument("sql", label="SQL query")
def query(env: Env, options: Options) -> Result:
    """Query the folders below DIR, each a table of that name. SQL is a SELECT in Spark's dialect."""
    place = parse_place(options.folder, "--from")
    if isinstance(place, Path):
        spark_query.find_tables(place)  # before the seconds that Spark takes to start
    with options.spark.prepare("jsctl export query", place).open() as spark:
        answer = spark_query.query(spark, connect(place, spark), options.sql, options.limit)
    if answer.is_truncated:
        env.say(f"the output ends after {pluralize(options.limit, 'row')}; show more with --limit")
    return view.answer(answer.columns, answer.rows)
