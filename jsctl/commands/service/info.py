"""`jsctl service info`."""

import asyncio
from typing import Any

from jsctl.base.patterns import compile_pattern
from jsctl.commands.cli import argument, command, option
from jsctl.commands.service.flags import pick_service, silence_flag
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.services.discovery import gather
from jsctl.views.result import Result
from jsctl.views.service import documents as view


@command(
    "info",
    columns=(),
    examples=["jsctl service info weather", "jsctl service info weather --endpoint 'v2.*' --json"],
)
@argument("service", default="")
@argument("id", default="")
@option("--endpoint", "-e", metavar="REGEX", default="", help="Only endpoints whose name matches")
@silence_flag
async def info(env: Env, service: str, id: str, endpoint: str, silence: int) -> Result:
    """Show all instances, or the one of ID, with their statistics. Schemas in the metadata of endpoints are
    indented. With --json, info and stats are those of the first instance; instances has all.
    """
    pattern = compile_pattern(endpoint, flag="--endpoint")
    name = await pick_service(env, service)
    connection = await env.connection()

    async def ask(verb: str) -> list[dict[str, Any]]:
        return await gather(connection, verb, name, id, silence=silence, warn=env.say)

    async def ask_statistics() -> list[dict[str, Any]]:
        try:
            return await ask("STATS")
        except JsctlError:  # not every service has them
            return []

    infos, statistics = await asyncio.gather(ask("INFO"), ask_statistics())
    return view.info(infos, statistics, pattern)
