"""Actions on the servers of a network: `start`, `stop`, `restart`, `kill`, `pause` and so on.

All of them take the same arguments: names of servers or clusters, or --all.
"""

from collections.abc import Callable, Sequence
from typing import Any

import click

from jsctl.base.command_lines import build_line
from jsctl.commands.cli import argument, command, dry_run_flag, option
from jsctl.commands.server.network.choose import choose_network
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError
from jsctl.localserver import networks
from jsctl.localserver.networks import Action, LocalNetwork, find_network
from jsctl.localserver.state import NodeState
from jsctl.views.result import Result
from jsctl.views.server import intents

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
            f"name servers or clusters, or use --all; {build_line('server network status')} shows them",
        )
    return local, local.state.select(servers)


def _announce(env: Env, local: LocalNetwork, nodes: Sequence[NodeState]) -> None:
    verb = click.get_current_context().info_name or ""
    env.announce(intents.change_servers(verb, local.state.name, [node.name for node in nodes]))


async def _act(
    env: Env, network: str, servers: Names, everything: bool, action: Action, key: str, label: str = ""
) -> Result:
    local, selected = _select(env, network, servers, everything)
    if action is not networks.STOP and not any(local.find_process(node) for node in selected):
        names = [node.name for node in selected]
        raise JsctlError(
            f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} not running",
            build_line("server network start", *names),
        )
    _announce(env, local, networks.select_affected(local, selected, action))
    return _report(env, local, await networks.apply_action(local, selected, action), key, label)


def _report(env: Env, local: LocalNetwork, nodes: Sequence[NodeState], key: str, label: str = "") -> Result:
    """Show which servers were changed. key: that of their names in JSON, and without a label what people
    read before them.
    """
    names = [node.name for node in nodes]
    env.inform(f"{label or key} {', '.join(names) or 'no server: none had to be changed'}")
    return Result(data={"network": local.state.name, key: names})


@command("start", examples=["jsctl server network start hub", "jsctl server network start --all"])
@choose_servers
async def start(env: Env, servers: Names, everything: bool, network: str) -> Result:
    """Resume those that are paused, too, and wait until they accept clients."""
    local, nodes = _select(env, network, servers, everything)
    return _report(env, local, await networks.start_nodes(local, nodes, env.environ), "started")


@command("stop", examples=["jsctl server network stop srv-4222", "jsctl server network stop hub"])
@choose_servers
@dry_run_flag()
async def stop(env: Env, servers: Names, everything: bool, network: str) -> Result:
    """Send SIGTERM, and wait until they have ended."""
    return await _act(env, network, servers, everything, networks.STOP, "stopped")


@command("restart", examples=["jsctl server network restart spoke-1"])
@choose_servers
@dry_run_flag()
async def restart(env: Env, servers: Names, everything: bool, network: str) -> Result:
    """Make them read their configuration files again."""
    local, nodes = _select(env, network, servers, everything)
    _announce(env, local, nodes)
    await networks.apply_action(local, nodes, networks.STOP)
    await networks.start_nodes(local, nodes, env.environ)
    return _report(env, local, nodes, "restarted")


@command("kill", examples=["jsctl server network kill hub"])
@choose_servers
@dry_run_flag()
async def kill(env: Env, servers: Names, everything: bool, network: str) -> Result:
    """Send SIGKILL (kill -9). Start them again with jsctl server network start."""
    return await _act(env, network, servers, everything, networks.KILL, "killed")


@command("pause", examples=["jsctl server network pause srv-4242"])
@choose_servers
@dry_run_flag()
async def pause(env: Env, servers: Names, everything: bool, network: str) -> Result:
    """Send SIGSTOP: like machines that hang, they do nothing until jsctl server network resume."""
    return await _act(env, network, servers, everything, networks.PAUSE, "paused")


@command("resume", examples=["jsctl server network resume srv-4242"])
@choose_servers
async def resume(env: Env, servers: Names, everything: bool, network: str) -> Result:
    """Send SIGCONT."""
    return await _act(env, network, servers, everything, networks.RESUME, "resumed")


@command("lame-duck", examples=["jsctl server network lame-duck srv-4222"])
@choose_servers
@dry_run_flag()
async def lame_duck(env: Env, servers: Names, everything: bool, network: str) -> Result:
    """Let them hand over leaders and clients first, which takes nats-server about two minutes."""
    action, key, label = networks.ENTER_LAME_DUCK, "in_lame_duck_mode", "in lame duck mode:"
    return await _act(env, network, servers, everything, action, key, label)
