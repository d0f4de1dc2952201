"""`jsctl server report health`."""

from typing import Any

from jsctl.commands.cli import command, option
from jsctl.commands.options.watch import Report
from jsctl.commands.server.report.flags import Flags, report, report_flags
from jsctl.env import Env
from jsctl.monitor.server.reports import build_health_rows
from jsctl.views.server import reports as view


@command(
    "health",
    columns=view.HEALTH,
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
        env, "HEALTHZ", sent, limit, servers, lambda replies: view.health(build_health_rows(replies))
    )
