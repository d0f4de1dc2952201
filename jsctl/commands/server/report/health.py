"""`jsctl server report health`."""

from collections.abc import Sequence
from typing import Any

from jsctl.commands.cli import command, option
from jsctl.commands.options.watch import Report
from jsctl.commands.server.report.flags import Flags, report, report_flags
from jsctl.env import Env
from jsctl.monitor.server.reports import HealthRow, build_health_rows
from jsctl.views.result import Cell, Column, Result, Table

_COLUMNS = (
    Column("Server", "server"),
    Column("Cluster", "cluster"),
    Column("Domain", "domain", hideable=1),
    Column("Status", "status"),
    Column("Type", "type", hideable=2),
    Column("Error", "error", "prose"),
)


def _show_health(rows: Sequence[HealthRow]) -> Result:
    """Report on health: a line for each error, and one for a server without any."""
    lines: list[list[Any]] = []
    for row in sorted(rows, key=lambda row: row.server):
        status = Cell(row.status, f"{row.status} ({row.code})", "good" if row.status == "ok" else "bad")
        for kind, error in row.errors or [("", "")]:
            lines.append([row.server, row.cluster, row.domain, status, kind, error])
    good = sum(row.status == "ok" for row in rows)
    clusters = str(len({row.cluster for row in rows}))
    footer = [str(len(rows)), clusters, "", f"ok: {good} / err: {len(rows) - good}", "", ""]
    return Result([Table("Health Report", _COLUMNS, lines, footer)])


@command(
    "health",
    columns=_COLUMNS,
    examples=["jsctl server report health", "jsctl server report health --account APP --stream S"],
)
@option("--js-enabled/--no-js-enabled", "-J", help="Fail where JetStream is off")
@option("--server-only/--no-server-only", "-S", help="Check servers, not streams and consumers")
@option("--account", metavar="ACCOUNT", default="", help="Only this account")
@option("--stream", metavar="STREAM", default="", help="Only this stream; needs --account")
@option("--consumer", metavar="CONSUMER", default="", help="Only this consumer; needs --stream")
@report_flags
async def health(
    env: Env, limit: int | None, js_enabled: bool, server_only: bool, servers: Flags, **body: Any
) -> Report:
    """Stop waiting once LIMIT servers have answered."""
    body |= {"js-enabled-only": js_enabled, "js-server-only": server_only, "details": True}
    sent = {key: value for key, value in body.items() if value}
    return await report(
        env, "HEALTHZ", sent, limit, servers, lambda replies: _show_health(build_health_rows(replies))
    )
