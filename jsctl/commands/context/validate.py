"""`jsctl context validate`."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jsctl.commands.cli import argument, command, option
from jsctl.contexts.model import strip_logins
from jsctl.env import Env
from jsctl.errors import BadInput, ExitStatus
from jsctl.nats.context_check import ContextCheck, check_context
from jsctl.views.context.info import connection_cell
from jsctl.views.result import Cell, Column, Result, Table

if TYPE_CHECKING:
    from jsctl.nats.context_check import ContextCheck


_AT_ONCE = 8


def _show_table(checks: "Sequence[ContextCheck]") -> Result:
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


@command("validate", columns=(), examples=["jsctl context validate", "jsctl context validate hub --connect"])
@argument("name", required=False, noun="context")
@option("--connect", is_flag=True, help="Try to connect with each")
async def validate(env: Env, name: str | None, connect: bool) -> Result:
    store = env.contexts
    gate = asyncio.Semaphore(_AT_ONCE)

    async def check(name: str) -> ContextCheck:
        async with gate:
            try:
                context = store.find(name)
            except BadInput as error:
                return ContextCheck(strip_logins(name), [strip_logins(error.message)])
            return await check_context(context, env.flags, connect=connect)

    return _show_table(await asyncio.gather(*map(check, [name] if name else store.names())))
