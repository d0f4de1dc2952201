"""`jsctl service ping`."""

from jsctl.commands.cli import argument, command
from jsctl.commands.service.flags import silence_flag
from jsctl.env import Env
from jsctl.services.discovery import ping as ping_services
from jsctl.services.discovery import validate_service
from jsctl.views.result import Result
from jsctl.views.service import documents as view


@command("ping", columns=view.PINGS, examples=["jsctl service ping weather", "jsctl service ping"])
@argument("service", default="")
@silence_flag
async def ping(env: Env, service: str, silence: int) -> Result:
    if service:
        validate_service(service)
    return view.pings(await ping_services(await env.connection(), service, silence=silence, warn=env.say))
