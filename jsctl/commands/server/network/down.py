"""`jsctl server network down`."""

from jsctl.commands.cli import command, option
from jsctl.commands.server.network.choose import network_argument
from jsctl.env import Env
from jsctl.localserver.networks import find_network, take_down


@command(
    "down", examples=["jsctl server network down hub-leaf --keep-data", "jsctl server network down mine -f"]
)
@network_argument
@option("--keep-data", is_flag=True, help="Keep streams, configurations and logs for the next start")
@option("--force", "-f", is_flag=True, help="Do not ask")
async def down(env: Env, network: str, keep_data: bool, force: bool) -> None:
    """Removes its folder, with everything in its streams."""
    local = find_network(env.environ, network)
    if not keep_data:
        question = f"Remove network {local.state.name} and all of its data in {local.folder}?"
        await env.confirm(question, force=force, flag="--force or --keep-data")
    await take_down(local, env.environ, keep_data=keep_data)
    env.say(f"network {local.state.name} is down" + (f"; its data is in {local.folder}" if keep_data else ""))
