"""`jsctl server network add` and `scale`."""

import click

from jsctl.commands.cli import argument, command, dry_run_flag
from jsctl.commands.server.network.choose import choose_network
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.localserver import binary, networks
from jsctl.localserver.networks import find_network
from jsctl.localserver.ready import wait_until_ready
from jsctl.views.result import Result
from jsctl.views.server import intents


@command("add", examples=["jsctl server network add hub"])
@argument("cluster")
@choose_network
async def add(env: Env, cluster: str, network: str) -> Result:
    """Add a server called CLUSTER-N, and wait until it is ready."""
    local = find_network(env.environ, network)
    size = sum(node.cluster == cluster for node in local.state.nodes)
    return await _scale(env, network, cluster, size + 1)


@command("scale", examples=["jsctl server network scale hub 5"])
@argument("cluster")
@argument("size", type=click.IntRange(1, 50))
@choose_network
@dry_run_flag()
async def scale(env: Env, cluster: str, size: int, network: str) -> Result:
    """Add servers, or shut some down gracefully; the data of removed ones stays in the network's folder."""
    return await _scale(env, network, cluster, size)


async def _scale(env: Env, network: str, cluster: str, size: int) -> Result:
    local = find_network(env.environ, network)
    members = [node for node in local.state.nodes if node.cluster == cluster]
    if len(members) == 1 and size > 1:
        raise BadInput(
            f"{cluster} is a single server, which cannot become a cluster while it runs",
            "describe it with servers: 3, and start it again",
        )
    if env.dry_run:
        plan = networks.plan_scaling(local, cluster, size)
        names = [node.name for node in plan.surplus] or sorted(plan.missing)
        verb = "stop" if plan.surplus else "start"
        env.announce(intents.change_servers(verb, local.state.name, names))
    changed = await networks.scale(local, cluster, size, binary.find(env.environ), env.environ)
    names = [node.name for node in changed]
    outcome = "started" if size > len(members) else "stopped"
    env.inform(f"{outcome} {', '.join(names)}" if names else f"cluster {cluster} has {size} servers")
    if size > len(members):
        await wait_until_ready(find_network(env.environ, str(local.folder)), env.inform)
    return Result(data={"network": local.state.name, "cluster": cluster, "servers": size, outcome: names})
