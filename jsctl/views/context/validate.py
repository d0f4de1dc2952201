"""`context validate`: what is wrong with contexts."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jsctl.errors import ExitStatus
from jsctl.views.context.info import connection_cell
from jsctl.views.result import Cell, Column, Result, Table

if TYPE_CHECKING:
    from jsctl.nats.context_check import ContextCheck


def table(checks: "Sequence[ContextCheck]") -> Result:
    """Show one row per context. The exit status is that of the first context that fails."""
    tried = any(check.tried for check in checks)
    data = [
        {"name": check.name, "valid": not check.problems, "problems": check.problems}
        | ({"connection": connection_cell(check).raw} if tried else {})
        for check in checks
    ]
    columns = [Column("Name", "name"), Column("Context", "valid", "prose")]
    if tried:
        columns.append(Column("Connection", "connection", "prose"))
    rows = []
    for check in checks:
        problems = "; ".join(check.problems)
        row: list[Any] = [check.name, Cell(not problems, problems or "OK", "bad" if problems else "good")]
        rows.append([*row, connection_cell(check)] if tried else row)
    status = next((check.status for check in checks if check.status), ExitStatus.OK)
    return Result(
        [Table("Context Validation", columns, rows, empty="No known contexts")], data=data, status=status
    )
