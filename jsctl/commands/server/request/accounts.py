"""`jsctl server request accounts`."""

from typing import Any

from jsctl.commands.cli import command, option
from jsctl.commands.server.request.flags import Servers, request, request_flags
from jsctl.env import Env
from jsctl.views.result import Result


@command("accounts", examples=["jsctl server request accounts --account SYS"])
@option("--account", metavar="ACCOUNT", default="", help="Only this account")
@request_flags
async def accounts(env: Env, expect: int | None, servers: Servers, **body: Any) -> Result:
    """End after WAIT answers; without it, wait for all servers."""
    return await request(env, "ACCOUNTZ", body, expect, servers)
