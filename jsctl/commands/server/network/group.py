"""`jsctl server network` and those of its commands that take a network alone."""

from jsctl.base.units import SECOND
from jsctl.commands.cli import DURATION, argument, command, destructive, option
from jsctl.commands.options.watch import WATCH, Report, check_interval, fetch_or_watch
from jsctl.commands.server.network.choose import choose_network, network_argument
from jsctl.env import Env
from jsctl.errors import BadInput, ExitStatus
from jsctl.localserver import links
from jsctl.localserver.networks import find_network, list_networks, take_down
from jsctl.localserver.ready import wait_until_ready
from jsctl.localserver.status import fetch_status
from jsctl.views.result import Result, list_names
from jsctl.views.server import intents
from jsctl.views.server import network as view


@command("ls", columns=view.NETWORKS, examples=["jsctl server network ls"])
@option("--names", "-n", is_flag=True, help="Only the names, one on each line")
async def ls(env: Env, names: bool) -> Result:
    networks = list_networks(env.environ)
    if names:
        return list_names([network.state.name for network in networks])
    return view.listing(networks)


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


@command("wait", examples=["jsctl server network wait hub-leaf", "jsctl server network wait --for 30s"])
@network_argument
@option("--for", "span", type=DURATION, default="3m", show_default=True, help="Maximum time to wait")
async def wait(env: Env, network: str, span: int) -> Result:
    """Wait until every server that should run is healthy, links are up, messages pass between all servers,
    and every mirror, source and replica has what its origin had when this began. Exit with 1 if that takes
    too long, and say what is missing.

    After an outage of more than 10 seconds nats-server asks for a mirror's origin again after 10, 20, 30, ...
    120 seconds, and waits up to 30 for each answer: that alone may take a minute.
    """
    if span < 0:
        raise BadInput("--for must be 0 or more")
    local = find_network(env.environ, network)
    await wait_until_ready(local, env.inform, seconds=span / SECOND)
    return Result(data={"network": local.state.name, "ready": True})


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
