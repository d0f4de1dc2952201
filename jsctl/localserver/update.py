"""The update of a running network to its changed description: accounts, users, remotes.

In operator mode the JWTs of accounts are pushed to the servers; then configurations are reloaded. Servers
that were added or removed are for `add` and `scale`.
"""

import asyncio
import signal
from collections.abc import Mapping
from pathlib import Path

from jsctl.auth.folders import StoreFolders
from jsctl.auth.resolver import push_account
from jsctl.auth.store import AuthStore
from jsctl.base.units import pluralize
from jsctl.errors import BadInput, JsctlError
from jsctl.localserver import folder, processes
from jsctl.localserver.binary import Binary
from jsctl.localserver.compile import compile_network
from jsctl.localserver.identities import FOLDER
from jsctl.localserver.network import Network, Plan, open_private_store
from jsctl.localserver.networks import LocalNetwork, apply_scale, compute_digest
from jsctl.localserver.readiness import read_context_settings
from jsctl.localserver.spec import NetworkSpec
from jsctl.localserver.state import NodeState, save_state
from jsctl.nats.connection import Connection

_RELOADED = "Reloaded server configuration"
_FAILED = "Failed to reload server configuration"
_RELOAD_SECONDS = 20


async def update_network(
    network: LocalNetwork, spec: NetworkSpec, source: str, binary: Binary, environ: Mapping[str, str]
) -> list[str]:
    """Update a running network to its description; return sentences about what was changed.

    Raises BadInput when the description has other servers, JsctlError.
    """
    state, network_folder = network.state, network.folder
    digest = compute_digest(spec)
    if state.digest in ("", digest):  # unknown to an earlier jsctl, or unchanged
        return []
    with folder.changing(network_folder):
        spec = apply_scale(spec, state.scale)
        names = {server.name for cluster in spec.clusters for server in cluster.servers}
        if different := names ^ {node.name for node in state.nodes}:
            raise BadInput(
                f"{source} has other servers than the running network: {', '.join(sorted(different))}",
                "use jsctl server network add or scale, or take the network down first",
            )
        plan = Plan(
            compile_network(spec, network_folder), network_folder, private=True, source=source, digest=digest
        )
        updated = Network(plan)
        updated.add_nodes(binary, state, ())
        # After a failure all steps are repeated; a server that is already up to date changes nothing.
        nodes = [node for node in state.nodes if network.find_process(node)]
        sentences = []
        if spec.operator:
            pushed = await _push(network, spec, len(nodes))
            sentences.append(f"pushed accounts {', '.join(pushed)}")
        await _reload(network_folder, nodes)
        if not spec.operator:  # imports from a new account work only after the second reload (2.15)
            await _reload(network_folder, nodes)
        sentences.append(f"reloaded {', '.join(node.name for node in nodes)}")
        updated.update_contexts(environ, state)
        state.digest = digest
        save_state(network_folder, state)
    return sentences


async def _push(network: LocalNetwork, spec: NetworkSpec, servers: int) -> list[str]:
    """Push the JWT of every account; return their names. Servers keep a JWT that they have already."""
    login = network.state.find_system_login()
    if login is None:
        raise JsctlError(
            "no context of the network uses the system account", "take the network down and up again"
        )
    raw = open_private_store(network.folder).load(login.context).raw
    store = AuthStore(StoreFolders.below(network.folder / FOLDER), spec.operator)
    connection = await Connection.open(read_context_settings(raw))
    try:
        for account in spec.accounts:
            outcomes = await push_account(connection, store.load_account(account.name), servers)
            for outcome in outcomes:
                if outcome.error:
                    raise JsctlError(f"account {account.name} was refused: {outcome.error}")
            if len(outcomes) < servers:
                raise JsctlError(
                    f"{len(outcomes)} of {pluralize(servers, 'server')} accepted account {account.name}",
                    "run jsctl server network up again",
                )
        return [account.name for account in spec.accounts]
    finally:
        await connection.close()


async def _reload(network_folder: Path, nodes: list[NodeState]) -> None:
    """Reload the configurations of servers, and wait until they have. Raises JsctlError."""
    counts = {node.name: _count_lines(network_folder, node, _RELOADED) for node in nodes}
    failures = {node.name: _count_lines(network_folder, node, _FAILED) for node in nodes}
    for node in nodes:
        if process := processes.find(network_folder, node.name):
            processes.send(process, signal.SIGHUP)
    try:
        async with asyncio.timeout(_RELOAD_SECONDS):
            for node in nodes:
                while _count_lines(network_folder, node, _RELOADED) <= counts[node.name]:
                    if _count_lines(network_folder, node, _FAILED) > failures[node.name]:
                        line = next(
                            line
                            for line in reversed(
                                folder.read_last_lines(network_folder / f"{node.name}.log", 50)
                            )
                            if _FAILED in line
                        )
                        raise JsctlError(
                            f"{node.name} refused the change: {line.partition(_FAILED)[2].strip(': ')}"
                        )
                    await asyncio.sleep(0.02)
    except TimeoutError:
        raise JsctlError(f"{node.name} did not reload its configuration", f"see {network_folder}") from None


def _count_lines(network_folder: Path, node: NodeState, text: str) -> int:
    return (network_folder / f"{node.name}.log").read_text(encoding="utf-8", errors="replace").count(text)
