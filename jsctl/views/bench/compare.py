"""Two results of a benchmark side by side: `bench compare`."""

from collections.abc import Sequence

from jsctl.base.units import format_bytes
from jsctl.bench.compare import Comparison, Difference
from jsctl.errors import ExitStatus
from jsctl.views.bench.result import latency
from jsctl.views.result import Cell, Column, Part, Result, Style, Table, Text

COLUMNS = (
    Column("Measure", "measure"),
    Column("First", "first"),
    Column("Second", "second"),
    Column("Change", "change", "percent"),
)


def comparison(measures: Comparison, worse: Sequence[Difference], tolerance: float | None) -> Result:
    """Show all measures of both results. worse: those that are worse by more than `tolerance` (a
    fraction)."""
    rows = [_build_row(difference) for difference in measures.differences]
    parts: list[Part] = [Table("Comparison", COLUMNS, rows)]
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
