"""`jsctl export rollup`."""

import time
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from jsctl.commands.cli import command, option
from jsctl.commands.export.options import SparkOptions, spark_options
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.spark.rollup import rollup as rolling
from jsctl.spark.session.folders import parse_place
from jsctl.spark.session.hadoop import connect
from jsctl.views.report.history import rolled
from jsctl.views.result import Result


@dataclass(frozen=True, slots=True)
class Options:
    """The flags of `export rollup`."""

    source: str
    to: str | None
    since: str | None
    spark: SparkOptions


@command(
    "rollup",
    examples=[
        "jsctl export rollup --from reports",
        "jsctl export rollup --from reports --to history --since 2026-11-01",
    ],
)
@option("--from", "source", metavar="DIR", required=True, help="Folder or URI of jsctl export reports")
@option("--to", metavar="DIR", help="Folder or URI for the tables (DIR/rollup)")
@option("--since", metavar="DATE", help="Only this day and later ones (UTC); other days stay as they are")
@spark_options
def rollup(env: Env, options: Options) -> Result:
    """Compute rates, percentiles of lags, growth, the days until a limit is reached, and what changed most,
    for all days of the samples. It can run as often as you like: it replaces the days that it computes, all
    in one step.
    """
    place = parse_place(options.source, "--from")
    to = parse_place(options.to, "--to") if options.to else place / rolling.FOLDER
    if isinstance(place, Path):
        rolling.check_source(place)  # before the seconds that Spark takes to start
    target = rolling.open_target(to)
    since = _parse_date(options.since) if options.since else None
    session = options.spark.prepare("jsctl export rollup", place, to)
    start = time.monotonic_ns()
    with session.open() as spark:
        source = connect(place, spark)
        rolling.check_source(source)
        target.connect(spark)
        rows = rolling.roll_up(spark, source, target, since)
    return rolled(rows, str(to), time.monotonic_ns() - start)


def _parse_date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise BadInput(f"--since {text!r} is not a date", "use one such as 2026-11-21") from None
