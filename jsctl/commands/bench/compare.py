"""`jsctl bench compare`."""

import click

from jsctl.bench import compare as domain
from jsctl.commands.cli import argument, command, option
from jsctl.env import Env
from jsctl.views.bench import compare as view
from jsctl.views.result import Result


@command(
    "compare",
    columns=view.COLUMNS,
    examples=[
        "jsctl bench compare before.json after.json",
        "jsctl bench compare a.json b.json --tolerance 10",
    ],
)
@argument("first", metavar="A.json")
@argument("second", metavar="B.json")
@option(
    "--tolerance",
    type=click.FloatRange(min=0),
    metavar="PERCENT",
    help="Exit with 1 when the rate, P50 or P99 of B is worse by more than this",
)
def compare(env: Env, first: str, second: str, tolerance: float | None) -> Result:
    """Read files with the output of --json of a benchmark."""
    comparison = domain.compare(domain.read_result(first), domain.read_result(second))
    share = None if tolerance is None else tolerance / 100
    worse = [] if share is None else domain.find_regressions(comparison, share)
    return view.comparison(comparison, worse, share)
