"""`jsctl service info`."""

from jsctl.commands.cli import argument, command, option
from jsctl.commands.service.flags import pick_service, silence_flag
from jsctl.env import Env
from jsctl.patterns import compile_pattern
from jsctl.services.discovery import gather
from jsctl.views.result import Result
from jsctl.views.service import documents as view


@command(
    "info", examples=["jsctl service info weather", "jsctl service info weather --endpoint 'v2.*' --json"]
)
@argument("service", default="")
@argument("id", default="")
@option("--endpoint", "-e", metavar="REGEX", default="", help="Only endpoints whose name matches")
@silence_flag
async def info(env: Env, service: str, id: str, endpoint: str, silence: int) -> Result:
    """Show all instances, or the one of ID. Schemas in the metadata of endpoints are indented."""
    pattern = compile_pattern(endpoint, flag="--endpoint")
    name = await pick_service(env, service)
    connection = await env.connection()
    return view.info(await gather(connection, "INFO", name, id, silence=silence, warn=env.say), pattern)
