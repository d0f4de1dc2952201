"""`jsctl server request ipqueue`."""

from typing import Any

from jsctl.commands.cli import command, option
from jsctl.commands.server.request.flags import Servers, request, request_flags
from jsctl.env import Env
from jsctl.views.result import Result


@command("ipqueue", examples=["jsctl server request ipqueue --no-all"])
@option("--all/--no-all", "all", default=True, help="Include empty queues")
@option("--filter", metavar="TEXT", default="", help="Only queues whose names contain this")
@request_flags
async def ipqueue(env: Env, expect: int | None, servers: Servers, **body: Any) -> Result:
    """End after WAIT answers; without it, wait for all servers."""
    return await request(env, "IPQUEUESZ", body, expect, servers)
