"""`jsctl server info`."""

from jsctl.commands.cli import argument, command
from jsctl.env import Env
from jsctl.monitor.server.find import find_server
from jsctl.views.result import Result
from jsctl.views.server import info as view


@command("info", examples=["jsctl server info", "jsctl server info n1"])
@argument("name", required=False, default="", metavar="[SERVER]")
async def info(env: Env, name: str) -> Result:
    """SERVER is a name or an ID; without one it is the server that jsctl is connected to. Needs a login of
    the system account.
    """
    return view.server(await find_server(await env.connection(), name))
