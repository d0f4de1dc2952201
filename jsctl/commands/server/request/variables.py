"""`jsctl server request variables`."""

from collections.abc import Mapping
from typing import Any

from jsctl.commands.cli import command
from jsctl.commands.server.request.flags import request, request_flags
from jsctl.env import Env
from jsctl.views.result import Result


@command("variables", examples=["jsctl server request variables 3 --cluster hub"])
@request_flags
async def variables(env: Env, expect: int | None, servers: Mapping[str, Any]) -> Result:
    """End after WAIT answers; without it, wait for all servers."""
    return await request(env, "VARZ", {}, expect, servers)
