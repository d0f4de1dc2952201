"""`jsctl server report health`."""

from collections.abc import Sequence
from operator import attrgetter, itemgetter
from typing import Any

from jsctl.commands.cli import command, option
from jsctl.commands.options.watch import Report
from jsctl.commands.server.report.flags import Flags, report, report_flags
from jsctl.env import Env
from jsctl.monitor.server.reports import HealthRow, build_health_rows
from jsctl.views.result import Cell, Column, Result, build_footer, build_table
from jsctl.views.server.reports import count_all


def _build_status_cell(line: tuple[HealthRow, str, str]) -> Cell:
    row = line[0]
    return Cell(row.status, f"{row.status} ({row.code})", "good" if row.status == "ok" else "bad")


def _count_statuses(statuses: Sequence[str]) -> str:
    good = statuses.count("ok")
    return f"ok: {good} / err: {len(statuses) - good}"


_COLUMNS = (
    Column("Server", "server", read=lambda line: line[0].server, total=count_all),
    Column("Cluster", "cluster", read=lambda line: line[0].cluster, total=lambda values: str(len({*values}))),
    Column("Domain", "domain", read=lambda line: line[0].domain, hideable=1),
    Column("Status", "status", read=_build_status_cell, total=_count_statuses),
    Column("Type", "type", read=itemgetter(1), hideable=2),
    Column("Error", "error", "prose", read=itemgetter(2)),
)


def _show_health(rows: Sequence[HealthRow]) -> Result:
    """Report on health: a line for each error, and one for a server without any. Totals are of servers."""
    rows = sorted(rows, key=attrgetter("server"))
    lines = [(row, kind, error) for row in rows for kind, error in row.errors or [("", "")]]
    footer = build_footer([(row, "", "") for row in rows], _COLUMNS)
    return Result([build_table("Health Report", _COLUMNS, lines, footer=footer)])


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
