"""`jsctl server request variables`."""

from jsctl.commands.cli import command
from jsctl.commands.server.request.flags import Servers, request, request_flags
from jsctl.env import Env
from jsctl.views.result import Result


@command("variables", examples=["jsctl server request variables 3 --cluster hub"])
@request_flags
async def variables(env: Env, expect: int | None, servers: Servers) -> Result:
    """End after WAIT answers; without it, wait for all servers."""
    return await request(env, "VARZ", {}, expect, servers)
