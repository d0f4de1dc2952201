"""`jsctl server request kick`."""

import click

from jsctl.commands.cli import argument, command
from jsctl.env import Env
from jsctl.monitor.server.requests import ask_server
from jsctl.views.result import Result
from jsctl.views.server import replies as view


@command("kick", examples=["jsctl server request kick 42 NDJWE4SO...CFNFYTLRDFB"])
@argument("client", label="ID of the connection", type=click.IntRange(min=1))
@argument("server_id", label="ID of the server")
async def kick(env: Env, client: int, server_id: str) -> Result:
    """CLIENT is the number of a connection, as jsctl server report connections shows it. Most clients connect
    again.
    """
    connection = await env.connection()
    return view.as_sent([await ask_server(connection, server_id, "KICK", {"cid": client})])
