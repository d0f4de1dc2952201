"""`jsctl server network down`."""

from jsctl.commands.cli import command, destructive, option
from jsctl.commands.server.network.choose import network_argument
from jsctl.env import Env
from jsctl.localserver.networks import find_network, take_down
from jsctl.views.result import Result
from jsctl.views.server import intents


@command(
    "down", examples=["jsctl server network down hub-leaf --keep-data", "jsctl server network down mine -f"]
)
@network_argument
@option("--keep-data", is_flag=True, help="Keep streams, configurations and logs for the next start")
@destructive("Do not ask", missing_ok=True)
async def down(env: Env, network: str, keep_data: bool, force: bool) -> Result:
    """Remove its folder, with everything in its streams."""
    local = find_network(env.environ, network)
    intent = intents.down(local.state.name, str(local.folder), keep_data=keep_data)
    await env.confirm(intent, force=force or keep_data, flag="--force or --keep-data")
    await take_down(local, env.environ, keep_data=keep_data)
    env.inform(
        f"network {local.state.name} is down" + (f"; its data is in {local.folder}" if keep_data else "")
    )
    return Result(
        data={"network": local.state.name, "down": True, "folder": str(local.folder) if keep_data else None}
    )
