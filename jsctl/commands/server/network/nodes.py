"""Actions on the servers of a network: `start`, `stop`, `restart`, `kill`, `pause` and so on.

All of them take the same arguments: names of servers or clusters, or --all.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import click

from jsctl.commands.cli import argument, command, dry_run_flag, option
from jsctl.commands.server.network.choose import choose_network
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError
from jsctl.localserver import networks
from jsctl.localserver.networks import LocalNetwork, find_network
from jsctl.localserver.state import NodeState
from jsctl.views.result import Result
from jsctl.views.server import intents

NodeAction = Callable[[LocalNetwork, Sequence[NodeState]], Awaitable[None]]
Names = tuple[str, ...]


def choose_servers(verb: Callable[..., Any]) -> Callable[..., Any]:
    """Declare the servers that a verb takes, and their network."""
    verb = choose_network(verb)
    verb = option("--all", "-a", "everything", is_flag=True, help="All servers")(verb)
    return argument("servers", nargs=-1, metavar="[SERVER|CLUSTER]...")(verb)


def _select(env: Env, network: str, servers: Names, everything: bool) -> tuple[LocalNetwork, list[NodeState]]:
    local = find_network(env.environ, network)
    if bool(servers) == everything:
        raise BadInput(
            "the servers are missing",
            "name servers or clusters, or use --all; jsctl server network status shows them",
        )
    return local, local.state.select(servers)


def _announce(env: Env, local: LocalNetwork, nodes: Sequence[NodeState]) -> None:
    verb = click.get_current_context().info_name or ""
    env.announce(intents.change_servers(verb, local.state.name, [node.name for node in nodes]))


async def _change_running_nodes(
    env: Env, network: str, servers: Names, everything: bool, action: NodeAction, key: str, label: str = ""
) -> Result:
    local, nodes = _select(env, network, servers, everything)
    if action is not networks.stop_nodes:
        selected, nodes = nodes, [node for node in nodes if local.find_process(node)]
        if not nodes:
            names = [node.name for node in selected]
            raise JsctlError(
                f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} not running",
                f"jsctl server network start {' '.join(names)}",
            )
    _announce(env, local, nodes)
    await action(local, nodes)
    return _report(env, local, nodes, key, label)


def _report(env: Env, local: LocalNetwork, nodes: Sequence[NodeState], key: str, label: str = "") -> Result:
    """Show which servers were changed. key: that of their names in JSON, and without a label what people
    read before them.
    """
    names = [node.name for node in nodes]
    env.say(f"{label or key} {', '.join(names)}")
    return Result(data={"network": local.state.name, key: names})


@command("start", examples=["jsctl server network start hub", "jsctl server network start --all"])
@choose_servers
async def start(env: Env, servers: Names, everything: bool, network: str) -> Result:
    """Resume those that are paused, too, and wait until they accept clients."""
    local, nodes = _select(env, network, servers, everything)
    await networks.start_nodes(local, nodes, env.environ)
    return _report(env, local, nodes, "started")


@command("stop", examples=["jsctl server network stop srv-4222", "jsctl server network stop hub"])
@choose_servers
@dry_run_flag()
async def stop(env: Env, servers: Names, everything: bool, network: str) -> Result:
    """Send SIGTERM, and wait until they have ended."""
    return await _change_running_nodes(env, network, servers, everything, networks.stop_nodes, "stopped")


@command("restart", examples=["jsctl server network restart spoke-1"])
@choose_servers
@dry_run_flag()
async def restart(env: Env, servers: Names, everything: bool, network: str) -> Result:
    """Make them read their configuration files again."""
    local, nodes = _select(env, network, servers, everything)
    _announce(env, local, nodes)
    await networks.stop_nodes(local, nodes)
    await networks.start_nodes(local, nodes, env.environ)
    return _report(env, local, nodes, "restarted")


@command("kill", examples=["jsctl server network kill hub"])
@choose_servers
@dry_run_flag()
async def kill(env: Env, servers: Names, everything: bool, network: str) -> Result:
    """Send SIGKILL (kill -9). Start them again with jsctl server network start."""
    return await _change_running_nodes(env, network, servers, everything, networks.kill_nodes, "killed")


@command("pause", examples=["jsctl server network pause srv-4242"])
@choose_servers
@dry_run_flag()
async def pause(env: Env, servers: Names, everything: bool, network: str) -> Result:
    """Send SIGSTOP: like machines that hang, they do nothing until jsctl server network resume."""
    return await _change_running_nodes(env, network, servers, everything, networks.pause_nodes, "paused")


@command("resume", examples=["jsctl server network resume srv-4242"])
@choose_servers
async def resume(env: Env, servers: Names, everything: bool, network: str) -> Result:
    """Send SIGCONT."""
    return await _change_running_nodes(env, network, servers, everything, networks.resume_nodes, "resumed")


@command("lame-duck", examples=["jsctl server network lame-duck srv-4222"])
@choose_servers
@dry_run_flag()
async def lame_duck(env: Env, servers: Names, everything: bool, network: str) -> Result:
    """Let them hand over leaders and clients first, which takes nats-server about two minutes."""
    return await _change_running_nodes(
        env, network, servers, everything, networks.start_lame_duck, "in_lame_duck_mode", "in lame duck mode:"
    )
