"""`audit checks`: what is checked."""

from collections.abc import Sequence

from jsctl.monitor.audit.model import Check, Threshold
from jsctl.views.result import Column, Result, Table

_COLUMNS = (
    Column("Suite", "suite"),
    Column("Code", "code"),
    Column("Description", "description", "prose"),
    Column("Configuration", "configuration", "prose"),
)


def checks(all_checks: Sequence[Check]) -> Result:
    """Show the checks with their thresholds."""
    rows = [
        (one.suite, one.code, one.description, ", ".join(map(_threshold, one.thresholds)))
        for one in all_checks
    ]
    return Result([Table("Audit Checks", _COLUMNS, rows)], data=[one.record() for one in all_checks])


def _threshold(one: Threshold) -> str:
    return f"{one.key} ({one.default:,.15g}{'%' if one.unit == '%' else ''})"
