"""Where an export writes to: a folder or URI with --to, or a table of a catalog with --table; and
what is shown and asked before it writes."""

from collections.abc import Sequence

import click

from jsctl.commands.cli import declare_all, option
from jsctl.commands.export.options import SparkOptions
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.spark.export.catalog_table import RowRange
from jsctl.spark.export.table_target import MODES, TableTarget, parse_table
from jsctl.spark.export.targets import TablesTarget, open_tables
from jsctl.spark.session.folders import parse_place
from jsctl.spark.session.hadoop import Place
from jsctl.spark.session.session import SessionOptions
from jsctl.views.export.export import describe_only_here, intent

table_options = declare_all(
    option(
        "--table",
        metavar="NAME",
        default="",
        help="Table of a catalog, in place of --to: CATALOG.DB.NAME",
    ),
    option(
        "--mode",
        type=click.Choice(["", *MODES]),
        default="",
        help="With --table: append what is new, overwrite, or merge the keys of a bucket (overwrite)",
    ),
)
"""--table and --mode."""


def check_destination(to: str, table: str, mode: str, format: str) -> None:
    """Raise BadInput unless one place is named, with what it needs."""
    if bool(to) == bool(table):
        raise BadInput(
            "name either --to or --table", "--to DIR for files, --table CATALOG.DB.NAME for a table"
        )
    if mode and not table:
        raise BadInput("--mode is for --table", "without it, --incremental appends and --force overwrites")
    if table and not format:
        raise BadInput("--table needs --format", "use delta, iceberg, or parquet")
    parse_destination(to, table)


def parse_destination(to: str, table: str) -> Place | str:
    """Return the folder or URI, or the name of the table. Raises BadInput."""
    return parse_table(table) if table else parse_place(to, "--to")


def prepare(spark: SparkOptions, name: str, place: Place | str, format: str) -> SessionOptions:
    """Return how to start Spark for a place. Raises what SparkOptions.prepare raises."""
    if isinstance(place, str):
        return spark.prepare(name, table=place, format=format)
    return spark.prepare(name, place)


def open_target(
    place: Place | str, format: str, mode: str, tables: Sequence[str], rows: RowRange
) -> TablesTarget:
    """Return the target of an export. rows: how a table tells the rows of its exports apart. Raises
    BadInput."""
    if not isinstance(place, str):
        return open_tables(place, format, tables)
    if len(tables) != 1:
        raise BadInput("--table takes one stream or bucket", "run it once for each")
    return TableTarget(place, format, mode or "overwrite", tables[0], rows)


def confirm_tables(
    env: Env, target: TablesTarget, existing: Sequence[str], *, force: bool, only_here: int = 0
) -> None:
    """With --dry-run, end with which tables would be written; else ask before those that exist are replaced.

    only_here: rows of these, at most, whose messages no stream has any more. Raises DryRun, Declined,
    BadInput.
    """
    path = str(target.path)
    env.announce(intent(target.tables, existing, path, only_here))
    if not existing:
        return
    flag = "--incremental, which adds to it, or name another folder" if only_here else "--force"
    env.run(env.confirm(intent(existing, existing, path, only_here), force=force, flag=flag))
    if only_here and force:
        env.say(f"jsctl: replacing {describe_only_here(only_here)}")
