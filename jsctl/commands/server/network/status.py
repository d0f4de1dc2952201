"""`jsctl server network status`."""

from jsctl.commands.cli import command, option
from jsctl.commands.options.watch import WATCH, Report, check_interval, fetch_or_watch
from jsctl.commands.server.network.choose import network_argument
from jsctl.env import Env
from jsctl.errors import ExitStatus
from jsctl.localserver.networks import find_network
from jsctl.localserver.status import fetch_status
from jsctl.views.result import Result
from jsctl.views.server import network as view


@command(
    "status",
    columns=view.SERVERS,
    examples=["jsctl server network status hub-leaf", "jsctl server network status --watch 1s"],
)
@network_argument
@option(*WATCH[0], **WATCH[1])
async def status(env: Env, network: str, watch: int | None) -> Report:
    """Show the servers of a network by cluster, which of them leads its domain, leaf node connections and
    gateways, disturbed links, and streams with their replicas. Exit with 1 if something is down.
    """
    check_interval(watch)
    local = find_network(env.environ, network)

    async def fetch() -> Result:
        state = await fetch_status(find_network(env.environ, str(local.folder)))
        result = view.status(state)
        return result if state.healthy else result._replace(status=ExitStatus.FAILURE)

    return await fetch_or_watch(fetch, watch)
