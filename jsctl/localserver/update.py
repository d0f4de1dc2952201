"""Takes over what has changed in the description of a network that runs: accounts, users, remotes.

In operator mode the JWTs of accounts are pushed to the servers; then configurations are read again. Servers
that were added or removed are for `add` and `scale`.
"""

import asyncio
import signal
from collections.abc import Mapping
from pathlib import Path

from jsctl.errors import BadInput, JsctlError
from jsctl.files import read_text
from jsctl.json_text import parse_json
from jsctl.localserver import folder, processes
from jsctl.localserver.binary import Binary
from jsctl.localserver.compile import compile_network
from jsctl.localserver.network import Network, Plan, open_private_store
from jsctl.localserver.networks import LocalNetwork, compute_digest, with_scale
from jsctl.localserver.readiness import read_context_settings
from jsctl.localserver.spec import NetworkSpec
from jsctl.localserver.state import NodeState, save_state
from jsctl.nats.connection import Connection
from jsctl.units import SECOND

_UPDATE = "$SYS.REQ.CLAIMS.UPDATE"
_RELOADED = "Reloaded server configuration"
_FAILED = "Failed to reload server configuration"
_RELOAD_SECONDS = 20


async def update_network(
    network: LocalNetwork, spec: NetworkSpec, source: str, binary: Binary, environ: Mapping[str, str]
) -> list[str]:
    """Update a running network to its description; return sentences about what was changed.

    Raises BadInput when the description has other servers, JsctlError.
    """
    state, where = network.state, network.folder
    digest = compute_digest(spec)
    if state.digest in ("", digest):  # of an earlier jsctl, or the same
        return []
    with folder.changing(where):
        spec = with_scale(spec, state.scale)
        names = {server.name for cluster in spec.clusters for server in cluster.servers}
        if different := names ^ {node.name for node in state.nodes}:
            raise BadInput(
                f"{source} has other servers than the network that runs: {', '.join(sorted(different))}",
                "use jsctl server network add or scale, or take the network down first",
            )
        plan = Plan(compile_network(spec, where), where, private=True, source=source, digest=digest)
        following = Network(plan)
        following.add_nodes(binary, state, ())
        # All is done again after a failure half way: a server that has it already changes nothing.
        nodes = [node for node in state.nodes if network.running(node)]
        sentences = []
        if spec.operator:
            pushed = await _push(network, spec, len(nodes))
            sentences.append(f"pushed accounts {', '.join(pushed)}")
        await _reload(where, nodes)
        if not spec.operator:  # imports from a new account answer after the second time only (2.15)
            await _reload(where, nodes)
        sentences.append(f"reloaded {', '.join(node.name for node in nodes)}")
        following.update_contexts(environ, state)
        state.digest = digest
        save_state(where, state)
    return sentences


async def _push(network: LocalNetwork, spec: NetworkSpec, servers: int) -> list[str]:
    """Push the JWT of every account; return their names. Servers keep a JWT that they have already."""
    login = next((candidate for candidate in network.state.logins if candidate.servers), None)
    if login is None:
        raise JsctlError("no context of the network has the system account", "take it down, and up again")
    raw = open_private_store(network.folder).load(login.context).raw
    connection = await Connection.open(read_context_settings(raw))
    try:
        names = []
        for account in spec.accounts:
            file = network.folder / "auth" / "stores" / spec.operator / "accounts" / account.name
            token = read_text(file / f"{account.name}.jwt").strip()
            replies = await connection.request_many(
                _UPDATE, token.encode(), expect=servers, timeout=5 * SECOND, stall=SECOND
            )
            for reply in replies:
                error = parse_json(reply.data).get("error")
                if error:
                    raise JsctlError(f"account {account.name} was refused: {error.get('description')}")
            if len(replies) < servers:
                raise JsctlError(
                    f"{len(replies)} of {servers} servers took account {account.name}", "run up again"
                )
            names.append(account.name)
        return names
    finally:
        await connection.close()


async def _reload(where: Path, nodes: list[NodeState]) -> None:
    """Reload the configurations of servers, and wait until they have. Raises JsctlError."""
    counts = {node.name: _count(where, node, _RELOADED) for node in nodes}
    failures = {node.name: _count(where, node, _FAILED) for node in nodes}
    for node in nodes:
        if process := processes.find(where, node.name):
            processes.send(process, signal.SIGHUP)
    try:
        async with asyncio.timeout(_RELOAD_SECONDS):
            for node in nodes:
                while _count(where, node, _RELOADED) <= counts[node.name]:
                    if _count(where, node, _FAILED) > failures[node.name]:
                        line = next(
                            line
                            for line in reversed(folder.read_last_lines(where / f"{node.name}.log", 50))
                            if _FAILED in line
                        )
                        raise JsctlError(
                            f"{node.name} refuses the change: {line.partition(_FAILED)[2].strip(': ')}"
                        )
                    await asyncio.sleep(0.02)
    except TimeoutError:
        raise JsctlError(f"{node.name} did not reload its configuration", f"see {where}") from None


def _count(where: Path, node: NodeState, text: str) -> int:
    return (where / f"{node.name}.log").read_text(encoding="utf-8", errors="replace").count(text)
