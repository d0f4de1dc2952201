"""`jsctl bench compare`."""

from collections.abc import Sequence

import click

from jsctl.base.units import format_bytes
from jsctl.bench import compare as domain
from jsctl.bench.compare import Comparison, Difference
from jsctl.commands.cli import argument, command, option
from jsctl.env import Env
from jsctl.errors import ExitStatus
from jsctl.views.bench.result import latency
from jsctl.views.result import Cell, Column, Part, Result, Style, Table, Text

_COLUMNS = (
    Column("Measure", "measure"),
    Column("First", "first"),
    Column("Second", "second"),
    Column("Change", "change", "percent"),
)


def _show_comparison(measures: Comparison, worse: Sequence[Difference], tolerance: float | None) -> Result:
    """Show all measures of both results. worse: those that are worse by more than `tolerance` (a
    fraction)."""
    rows = [_build_row(difference) for difference in measures.differences]
    parts: list[Part] = [Table("Comparison", _COLUMNS, rows)]
    parts += [Text(f"Note: {warning}", "warn") for warning in measures.warnings]
    if worse:
        names = ", ".join(difference.measure for difference in worse)
        parts.append(Text(f"Worse by more than {tolerance:.0%}: {names}", "bad"))
    status = ExitStatus.FAILURE if worse else ExitStatus.OK
    return Result(parts, status=status)


def _build_row(difference: Difference) -> list[object]:
    style: Style = "" if difference.is_better is None else "good" if difference.is_better else "bad"
    change = (
        Cell(None, "")
        if difference.change is None
        else Cell(round(difference.change, 4), f"{difference.change:+.1%}", style)
    )
    return [
        difference.measure,
        _build_value(difference.unit, difference.first),
        _build_value(difference.unit, difference.second),
        change,
    ]


def _build_value(unit: str, value: float) -> Cell:
    match unit:
        case "latency":
            return Cell(value, latency(value))
        case "bytes":
            return Cell(value, f"{format_bytes(round(value))}/s")
    return Cell(value, f"{round(value):,}")


@command(
    "compare",
    columns=_COLUMNS,
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
    return _show_comparison(comparison, worse, share)
