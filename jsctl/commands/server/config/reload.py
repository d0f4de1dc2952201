"""`jsctl server config reload`."""

from jsctl.commands.cli import argument, command, destructive
from jsctl.env import Env
from jsctl.monitor.server.find import find_server
from jsctl.monitor.server.requests import ask_server
from jsctl.views.intent import Intent
from jsctl.views.result import Result
from jsctl.views.server import info as view


@command("reload", examples=["jsctl server config reload n1"])
@argument("name", metavar="SERVER")
@destructive("Do not ask", no_force=True)
async def reload(env: Env, name: str, force: bool) -> Result:
    """Make a server read its configuration file again. SERVER is a name or an ID. A login of the system
    account is needed.
    """
    connection = await env.connection()
    server = (await find_server(connection, name))["server"]
    facts = {"server": server["name"], "id": server["id"]}
    await env.confirm(Intent(f"reload the configuration of server {server['name']}", facts), force=force)
    await ask_server(connection, server["id"], "RELOAD")
    return view.server(await find_server(connection, server["id"]))
