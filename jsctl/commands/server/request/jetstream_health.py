"""`jsctl server request jetstream-health`."""

from typing import Any

from jsctl.commands.cli import command, option
from jsctl.commands.server.request.flags import Servers, request, request_flags
from jsctl.env import Env
from jsctl.views.result import Result


@command("jetstream-health", examples=["jsctl server request jetstream-health"])
@option("--js-enabled/--no-js-enabled", "-J", help="Fail where JetStream is off")
@option("--server-only/--no-server-only", "-S", help="Check the server, not its streams and consumers")
@option("--account", metavar="ACCOUNT", default="", help="Only this account")
@option("--stream", metavar="STREAM", default="", help="Only this stream; needs --account")
@option("--consumer", metavar="CONSUMER", default="", help="Only this consumer; needs --stream")
@option("--details/--no-details", default=True, help="Include all failures")
@request_flags
async def jetstream_health(
    env: Env, expect: int | None, servers: Servers, js_enabled: bool, server_only: bool, **body: Any
) -> Result:
    """End after WAIT answers; without it, wait for all servers."""
    body |= {"js-enabled-only": js_enabled, "js-server-only": server_only}
    return await request(env, "HEALTHZ", body, expect, servers)
