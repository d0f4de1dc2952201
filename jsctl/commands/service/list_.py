"""`jsctl service list` and `ping`."""

from jsctl.commands.cli import argument, command
from jsctl.commands.service.flags import silence_flag
from jsctl.env import Env
from jsctl.services.discovery import gather, validate_service
from jsctl.services.discovery import ping as ping_services
from jsctl.views.result import Result
from jsctl.views.service import documents as view


@command("list", columns=view.LIST, examples=["jsctl service list weather", "jsctl service list"])
@argument("service", default="")
@silence_flag
async def list_(env: Env, service: str, silence: int) -> Result:
    if service:
        validate_service(service)
    return view.listing(await gather(await env.connection(), "INFO", service, silence=silence, warn=env.say))


@command("ping", columns=view.PINGS, examples=["jsctl service ping weather", "jsctl service ping"])
@argument("service", default="")
@silence_flag
async def ping(env: Env, service: str, silence: int) -> Result:
    if service:
        validate_service(service)
    return view.pings(await ping_services(await env.connection(), service, silence=silence, warn=env.say))
