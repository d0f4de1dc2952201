"""`jsctl server report cpu`."""

from jsctl.commands.cli import command, option
from jsctl.commands.options.watch import Report
from jsctl.commands.server.report.flags import ROWS, Flags, report, report_flags
from jsctl.env import Env
from jsctl.views.server import reports as view


@command(
    "cpu",
    columns=(),
    examples=["jsctl server report cpu", "jsctl server report cpu --cluster hub --watch 2s"],
)
@option(*ROWS[0], **ROWS[1])
@report_flags
async def cpu(env: Env, limit: int | None, with_rows: bool, servers: Flags) -> Report:
    """Stop waiting once LIMIT servers have answered."""
    return await report(
        env, "VARZ", {}, limit, servers, lambda replies: view.usage(replies, "cpu", with_rows=with_rows)
    )
