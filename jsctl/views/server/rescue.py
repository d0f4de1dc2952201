"""`server cluster rescue`: the quorum that each server has now."""

from collections.abc import Sequence

from jsctl.errors import ExitStatus
from jsctl.monitor.server.rescue import RescueResult
from jsctl.views.result import Column, Result, Table

_COLUMNS = (
    Column("Server", "server"),
    Column("Quorum Before", "prev_quorum", "number"),
    Column("Quorum", "new_quorum", "number"),
    Column("Error", "error", "prose"),
)


def rescued(results: Sequence[RescueResult]) -> Result:
    """Show the answer of each server; the status is a failure if one of them refused."""
    status = ExitStatus.FAILURE if any(result.error for result in results) else ExitStatus.OK
    return Result([Table("Meta Group Quorum", _COLUMNS, results, optional=("error",))], status=status)
