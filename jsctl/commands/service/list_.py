"""`jsctl service list`."""

from jsctl.commands.cli import argument, command
from jsctl.commands.service.flags import silence_flag
from jsctl.env import Env
from jsctl.services.discovery import gather, validate_service
from jsctl.views.result import Result
from jsctl.views.service import documents as view


@command("list", columns=view.LIST, examples=["jsctl service list weather", "jsctl service list"])
@argument("service", default="")
@silence_flag
async def list_(env: Env, service: str, silence: int) -> Result:
    if service:
        validate_service(service)
    return view.listing(await gather(await env.connection(), "INFO", service, silence=silence, warn=env.say))
