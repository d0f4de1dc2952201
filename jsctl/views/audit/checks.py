"""`audit checks`: what is checked."""

from collections.abc import Sequence

from jsctl.monitor.audit.model import Check, Threshold
from jsctl.views.result import Column, Result, Table

COLUMNS = (
    Column("Suite", "suite"),
    Column("Code", "code"),
    Column("Description", "description", "prose"),
    Column("Configuration", "configuration", "prose"),
)


def checks(all_checks: Sequence[Check]) -> Result:
    """Show the checks with their thresholds."""
    rows = [
        (check.suite, check.code, check.description, ", ".join(map(_format_threshold, check.thresholds)))
        for check in all_checks
    ]
    return Result([Table("Audit Checks", COLUMNS, rows)], data=[check.record() for check in all_checks])


def _format_threshold(threshold: Threshold) -> str:
    return f"{threshold.key} ({threshold.default:,.15g}{'%' if threshold.unit == '%' else ''})"
