"""`jsctl export rollup`."""

import time
from datetime import date
from pathlib import Path

from jsctl.commands.cli import command, option
from jsctl.commands.export.options import spark_options
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.spark.rollup import rollup as rolling
from jsctl.spark.session.session import QUICK, check, session
from jsctl.units import SECOND
from jsctl.views.report.history import rolled
from jsctl.views.result import Result


@command(
    "rollup",
    examples=[
        "jsctl export rollup --from reports",
        "jsctl export rollup --from reports --to history --since 2026-11-01",
    ],
)
@option("--from", "source", metavar="DIR", required=True, help="Folder of jsctl export reports")
@option("--to", metavar="DIR", help="Folder for the tables (DIR/rollup)")
@option("--since", metavar="DATE", help="Only this day and later ones (UTC); what is there of others stays")
@spark_options
def rollup(env: Env, source: str, to: str | None, since: str | None, master: str, remote: str) -> Result:
    """Rates, percentiles of lags, growth and days until a limit is reached, and what moved most, for all
    days of the samples. Run it as often as you like: it replaces the days that it computes, all in one
    step.
    """
    path = Path(source).expanduser()
    rolling.source(path)
    into = rolling.target(Path(to).expanduser() if to else path / rolling.FOLDER)
    day = _date(since) if since else None
    check(master, remote)
    begin = time.monotonic()
    with session(master, remote, name="jsctl export rollup", conf=QUICK) as spark:
        written = rolling.roll(spark, path, into, day)
    return rolled(written, str(into.path), int((time.monotonic() - begin) * SECOND))


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise BadInput(f"--since {text!r} is no date", "such as 2026-11-21") from None
