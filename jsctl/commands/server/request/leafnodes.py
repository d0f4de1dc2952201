"""`jsctl server request leafnodes`."""

from typing import Any

from jsctl.commands.cli import command, option
from jsctl.commands.server.request.flags import Servers, request, request_flags
from jsctl.env import Env
from jsctl.views.result import Result


@command("leafnodes", examples=["jsctl server request leafnodes"])
@option("--subscriptions", is_flag=True, help="Include subscriptions")
@request_flags
async def leafnodes(env: Env, expect: int | None, servers: Servers, **body: Any) -> Result:
    """End after WAIT answers; without it, wait for all servers."""
    return await request(env, "LEAFZ", body, expect, servers)
