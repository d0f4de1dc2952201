"""`jsctl export query`."""

from dataclasses import dataclass

from jsctl.base.units import pluralize
from jsctl.commands.cli import argument, command, option
from jsctl.commands.export.options import SparkOptions, spark_options
from jsctl.env import Env
from jsctl.spark.export import query as spark_query
from jsctl.spark.session.folders import parse_folder
from jsctl.spark.session.session import FAST_START_CONF, check_environment, open_session
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
@option("--from", "folder", metavar="DIR", required=True, help="Folder that an export wrote to")
@option("--limit", type=int, metavar="ROWS", default=1000, help="Show at most this many rows (1000)")
@spark_options
@argument("sql", label="SQL query")
def query(env: Env, options: Options) -> Result:
    """Query the folders below DIR, each a table of that name. SQL is a SELECT in Spark's dialect."""
    path = parse_folder(options.folder, "--from")
    spark_query.find_tables(path)  # before the seconds that Spark takes to start
    master, remote = options.spark.master, options.spark.remote
    check_environment(master, remote)
    with open_session(master, remote, name="jsctl export query", conf=FAST_START_CONF) as spark:
        answer = spark_query.query(spark, path, options.sql, options.limit)
    if answer.is_truncated:
        env.say(f"the output ends after {pluralize(options.limit, 'row')}; show more with --limit")
    return view.answer(answer.columns, answer.rows)
