"""`jsctl audit checks`."""

from jsctl.commands.cli import command
from jsctl.env import Env
from jsctl.monitor.audit.analysis import CHECKS
from jsctl.monitor.audit.model import Threshold
from jsctl.views.result import Column, Result, Table

_COLUMNS = (
    Column("Suite", "suite"),
    Column("Code", "code"),
    Column("Description", "description", "prose"),
    Column("Configuration", "configuration", "prose"),
)


def _format_threshold(threshold: Threshold) -> str:
    return f"{threshold.key} ({threshold.default:,.15g}{'%' if threshold.unit == '%' else ''})"


@command("checks", columns=_COLUMNS, examples=["jsctl audit checks", "jsctl audit checks --json"])
def checks(env: Env) -> Result:
    """Show each check with its code, which is that of the nats tool; jsctl audit analyze --skip takes the
    codes.
    """
    rows = [
        (check.suite, check.code, check.description, ", ".join(map(_format_threshold, check.thresholds)))
        for check in CHECKS
    ]
    return Result([Table("Audit Checks", _COLUMNS, rows)], data=[check.record() for check in CHECKS])
