"""`jsctl server request raft`."""

from typing import Any

from jsctl.commands.cli import command, option
from jsctl.commands.server.request.flags import Servers, request, request_flags
from jsctl.env import Env
from jsctl.views.result import Result


@command("raft", examples=["jsctl server request raft"])
@option("--account", metavar="ACCOUNT", default="", help="Only this account")
@option("--group", metavar="GROUP", default="", help="Only this group")
@request_flags
async def raft(env: Env, expect: int | None, servers: Servers, **body: Any) -> Result:
    """End after WAIT answers; without it, wait for all servers."""
    return await request(env, "RAFTZ", body, expect, servers)
