"""`jsctl server network ls`."""

from jsctl.commands.cli import command, option
from jsctl.env import Env
from jsctl.localserver.networks import list_networks
from jsctl.views.result import Result, Text
from jsctl.views.server import network as view


@command("ls", columns=view.NETWORKS, examples=["jsctl server network ls"])
@option("--names", "-n", is_flag=True, help="Only the names, one on each line")
async def ls(env: Env, names: bool) -> Result:
    networks = list_networks(env.environ)
    if names:
        listed = [network.state.name for network in networks]
        return Result([Text("\n".join(listed), whole=True)] if listed else [], data=listed)
    return view.listing(networks)
