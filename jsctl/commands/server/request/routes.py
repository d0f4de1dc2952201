"""`jsctl server request routes`."""

from jsctl.commands.cli import command, option
from jsctl.commands.server.request.flags import Servers, request, request_flags
from jsctl.env import Env
from jsctl.views.result import Result


@command("routes", examples=["jsctl server request routes"])
@option("--subscriptions", is_flag=True, help="Include subscriptions")
@request_flags
async def routes(env: Env, expect: int | None, servers: Servers, subscriptions: bool) -> Result:
    """End after WAIT answers; without it, wait for all servers."""
    body = {"subscriptions": subscriptions, "subscriptions_detail": subscriptions}
    return await request(env, "ROUTEZ", body, expect, servers)
