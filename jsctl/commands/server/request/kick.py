"""`jsctl server request kick`."""

import click

from jsctl.base.command_lines import build_line
from jsctl.commands.cli import argument, command, dry_run_flag
from jsctl.env import Env
from jsctl.errors import NotFound
from jsctl.monitor.server.requests import ask_server
from jsctl.views.result import Result
from jsctl.views.server import intents
from jsctl.views.server import replies as view


@command("kick", examples=["jsctl server request kick 42 NDJWE4SO...CFNFYTLRDFB"])
@argument("client", label="ID of the connection", type=click.IntRange(min=1))
@argument("server_id", label="ID of the server")
@dry_run_flag("Only show which client would be disconnected")
async def kick(env: Env, client: int, server_id: str) -> Result:
    """Close the connection with the number CLIENT, as jsctl server report connections shows it. Most clients
    connect again.
    """
    connection = await env.connection()
    if env.dry_run:
        reply = await ask_server(connection, server_id, "CONNZ", {"cid": client})
        clients = (reply.get("data") or {}).get("connections") or []
        if not clients:
            raise NotFound(
                f"server {server_id} has no connection {client}",
                f"{build_line('server report connections')} shows them",
            )
        env.announce(intents.kick(clients[0], reply["server"]))
    return view.as_sent([await ask_server(connection, server_id, "KICK", {"cid": client})])
