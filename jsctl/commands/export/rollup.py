"""`jsctl export rollup`."""

import time
from dataclasses import dataclass
from datetime import date

from jsctl.base.units import SECOND
from jsctl.commands.cli import command, option
from jsctl.commands.export.options import SparkOptions, spark_options
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.spark.rollup import rollup as rolling
from jsctl.spark.session.folders import parse_folder
from jsctl.spark.session.session import FAST_START_CONF, check_environment, open_session
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
    options=Options,
    examples=[
        "jsctl export rollup --from reports",
        "jsctl export rollup --from reports --to history --since 2026-11-01",
    ],
)
@option("--from", "source", metavar="DIR", required=True, help="Folder of jsctl export reports")
@option("--to", metavar="DIR", help="Folder for the tables (DIR/rollup)")
@option("--since", metavar="DATE", help="Only this day and later ones (UTC); other days stay as they are")
@spark_options
def rollup(env: Env, options: Options) -> Result:
    """Compute rates, percentiles of lags, growth, the days until a limit is reached, and what changed most,
    for all days of the samples. It can run as often as you like: it replaces the days that it computes, all
    in one step.
    """
    path = parse_folder(options.source, "--from")
    rolling.check_source(path)
    target = rolling.open_target(parse_folder(options.to, "--to") if options.to else path / rolling.FOLDER)
    since = _parse_date(options.since) if options.since else None
    master, remote = options.spark.master, options.spark.remote
    check_environment(master, remote)
    start = time.monotonic()
    with open_session(master, remote, name="jsctl export rollup", conf=FAST_START_CONF) as spark:
        rows = rolling.roll_up(spark, path, target, since)
    return rolled(rows, str(target.path), int((time.monotonic() - start) * SECOND))


def _parse_date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise BadInput(f"--since {text!r} is not a date", "use one such as 2026-11-21") from None
