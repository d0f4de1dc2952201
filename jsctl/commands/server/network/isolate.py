"""`jsctl server network isolate`."""

from jsctl.commands.cli import argument, command
from jsctl.commands.server.network.choose import choose_network
from jsctl.env import Env
from jsctl.localserver import links
from jsctl.localserver.networks import find_network
from jsctl.views.result import Result
from jsctl.views.server import network as view


@command("isolate", examples=["jsctl server network isolate west"])
@argument("clusters", nargs=-1, required=True, metavar="CLUSTER...")
@choose_network
async def isolate(env: Env, clusters: tuple[str, ...], network: str) -> Result:
    """End all connections of clusters with others, leaf node connections and gateways in both directions, and
    refuse new ones; clients stay connected. jsctl server network link up --all undoes it.
    """
    local = find_network(env.environ, network)
    await links.isolate(local, clusters)
    return view.link_states(local)
