"""The networks on this machine, and the actions on their servers and links."""

import asyncio
import contextlib
import hashlib
import shutil
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from jsctl.contexts.store import ContextStore
from jsctl.errors import BadInput, JsctlError, NotFound
from jsctl.localserver import contexts, folder, processes, relay
from jsctl.localserver.binary import Binary
from jsctl.localserver.compile import compile_network
from jsctl.localserver.network import (
    RELAY,
    Network,
    Plan,
    open_private_store,
    start_network,
    start_relay,
    stop,
    write_links,
)
from jsctl.localserver.spec import NetworkSpec
from jsctl.localserver.spec_reader import load_spec
from jsctl.localserver.startup import launch, wait_for_servers
from jsctl.localserver.state import FILE, LAME_DUCK, NetworkState, NodeState, load_state, save_state
from jsctl.registry import find_noun
from jsctl.similar_names import find_nearest
from jsctl.user_folders import expand_home

VARIABLE = "JSCTL_NETWORK"
"""The variable with the name of the network of a shell that `network shell` started."""

LINK_SETTINGS = ("down", "drop", "delay_ms", "limit")


@dataclass(frozen=True, slots=True)
class LocalNetwork:
    """A network that was started on this machine. folder: where its files are."""

    folder: Path
    state: NetworkState

    def find_process(self, node: NodeState) -> processes.Process | None:
        """Return the process of a server; None when it is not running."""
        return processes.find(self.folder, node.name)

    def get_status(self, node: NodeState) -> str:
        """Return the status of a server: up, paused, LAME_DUCK, stopped or killed; ended if nobody stopped
        it."""
        if self.find_process(node):
            return node.wanted if node.wanted in ("paused", LAME_DUCK) else "up"
        if node.wanted == LAME_DUCK:
            return "stopped"
        return "ended" if node.wanted in ("up", "paused") else node.wanted

    @property
    def in_use(self) -> bool:
        """Whether any process of the network is running."""
        return folder.is_in_use(self.folder)


def list_networks(environ: Mapping[str, str]) -> list[LocalNetwork]:
    """Return the networks of this machine, by name."""
    networks = []
    for path in folder.list_known(environ):
        try:
            state = load_state(path)
        except JsctlError:
            continue  # `down` can still remove it by its folder
        if state:
            networks.append(LocalNetwork(path, state))
    return sorted(networks, key=lambda network: network.state.name)


def list_names(environ: Mapping[str, str]) -> list[str]:
    """Return the names of the networks of this machine."""
    return [network.state.name for network in list_networks(environ)]


def find_network(environ: Mapping[str, str], name: str = "") -> LocalNetwork:
    """Return the network with a name or folder; for an empty name, that of JSCTL_NETWORK or the only one.

    Raises NotFound, BadInput.
    """
    name = name or environ.get(VARIABLE, "")
    networks = list_networks(environ)
    if not name:
        running = [network for network in networks if network.in_use]
        candidates = running or networks
        if len(candidates) == 1:
            return candidates[0]
        if not candidates:
            raise NotFound("there is no local network", "start one with jsctl server network up hub-leaf")
        names = ", ".join(network.state.name for network in candidates)
        raise BadInput(f"there are several networks: {names}", "name one")
    same = [network for network in networks if network.state.name == name]
    if len(same) > 1:
        folders = ", ".join(str(network.folder) for network in same)
        raise BadInput(f"several networks are named {name}", f"name one by its folder: {folders}")
    if same:
        return same[0]
    path = expand_home(name).absolute()
    state = load_state(path) if path.is_dir() else None
    if state:
        return LocalNetwork(path, state)
    if name == environ.get(VARIABLE):
        raise NotFound(
            f"there is no network {name!r}, which {VARIABLE} names", "unset it, or set it to another network"
        )
    raise NotFound(*find_noun("network").missing(name, existing=[network.state.name for network in networks]))


def build_label(network: LocalNetwork, environ: Mapping[str, str]) -> str:
    """Return an unambiguous label of a network: its name if no other has it, else its folder."""
    same = [other for other in list_networks(environ) if other.state.name == network.state.name]
    return network.state.name if len(same) == 1 else str(network.folder)


async def bring_up(
    spec: NetworkSpec,
    network_folder: Path,
    source: str,
    binary: Binary,
    environ: Mapping[str, str],
    port: int | None,
) -> tuple[LocalNetwork, Network | None]:
    """Start a network, or the parts of it that are not running.

    Returns it, and the started Network; None for a network that was already running. Raises JsctlError.
    """
    state = load_state(network_folder)
    if state and folder.is_in_use(network_folder):
        network = LocalNetwork(network_folder, state)
        await start_nodes(network, state.nodes, environ)
        return network, None
    with folder.changing(network_folder):
        digest = compute_digest(spec)
        spec = apply_scale(spec, state.scale if state else {})
        topology = compile_network(spec, network_folder)
        plan = Plan(topology, network_folder, port=port, private=True, source=source, digest=digest)
        started = await start_network(plan, binary, environ)
        state = load_state(network_folder)
    if state is None:
        raise JsctlError(f"{network_folder / FILE} no longer exists")
    return LocalNetwork(network_folder, state), started


async def start_nodes(network: LocalNetwork, nodes: Sequence[NodeState], environ: Mapping[str, str]) -> None:
    """Start servers that are not running, resume paused ones, and wait until they accept clients."""
    with folder.changing(network.folder):
        start_relay(network.folder, network.state, environ)
        starting = []
        for node in nodes:
            process = network.find_process(node)
            if process and node.wanted in (
                LAME_DUCK,
                "stopped",
                "killed",
            ):  # a stop may have been killed, too
                await processes.stop([process])
                process = None
            if process is None:
                process = launch(network.folder, node, environ)
                node.url = ""
            elif node.wanted == "paused":
                processes.send(process, signal.SIGCONT)
            node.wanted = "up"
            if not node.url:  # a killed jsctl may not have seen it ready either
                starting.append((node, process))
        save_state(network.folder, network.state)
        await wait_for_servers(network.folder, starting)
        save_state(network.folder, network.state)


async def stop_nodes(network: LocalNetwork, nodes: Sequence[NodeState]) -> None:
    """Stop servers, and wait until they have ended."""
    await _signal(network, nodes, None, "stopped")


async def kill_nodes(network: LocalNetwork, nodes: Sequence[NodeState]) -> None:
    """Kill servers at once (kill -9)."""
    await _signal(network, nodes, signal.SIGKILL, "killed")


async def pause_nodes(network: LocalNetwork, nodes: Sequence[NodeState]) -> None:
    """Pause servers (SIGSTOP); their connections stay open."""
    await _signal(network, nodes, signal.SIGSTOP, "paused")


async def resume_nodes(network: LocalNetwork, nodes: Sequence[NodeState]) -> None:
    """Resume paused servers (SIGCONT)."""
    await _signal(network, nodes, signal.SIGCONT, "up")


async def start_lame_duck(network: LocalNetwork, nodes: Sequence[NodeState]) -> None:
    """Put servers into lame duck mode (SIGUSR2): they hand over leadership and clients, then end."""
    await _signal(network, nodes, signal.SIGUSR2, LAME_DUCK)


async def _signal(
    network: LocalNetwork,
    nodes: Sequence[NodeState],
    number: signal.Signals | None,
    status: str,
    wait: bool = True,
) -> None:
    """Send a signal; None stops the servers properly. status: the new status of the servers."""
    with folder.changing(network.folder):
        running = [process for node in nodes if (process := network.find_process(node))]
        for node in nodes:
            # Only running servers can be paused, and only paused ones resumed.
            if status not in ("paused", "up") or (network.find_process(node) and node.wanted != LAME_DUCK):
                node.wanted = status
        try:
            save_state(network.folder, network.state)
        finally:  # on a full disk, too
            await _send(running, number)


async def _send(running: Sequence[processes.Process], number: signal.Signals | None) -> None:
    if number is None:
        await processes.stop(running)
        return
    for process in running:
        processes.send(process, number)
    if number == signal.SIGKILL:
        await processes.wait_until_ended(running, processes.GRACE_SECONDS)


async def disturb(network: LocalNetwork, names: Sequence[str], **settings: Any) -> None:
    """Change links. settings: some of LINK_SETTINGS; without any, the links are restored.

    Raises NotFound.
    """
    links = network.state.links
    for name in names:
        if name not in links:
            nearest = find_nearest(name, list(links))
            hint = f"did you mean {nearest}? " if nearest else ""
            raise NotFound(
                f"network {network.state.name} has no link {name!r}",
                f"{hint}its links are {', '.join(links)}" if links else "it has no links",
            )
        for key in LINK_SETTINGS if not settings else ():
            links[name].pop(key, None)
        links[name].update(settings)
    with folder.changing(network.folder):
        save_state(network.folder, network.state)
        write_links(network.folder, network.state)
        if processes.is_running(network.folder, RELAY):
            await _wait_for_relay(network.folder)


async def _wait_for_relay(network_folder: Path) -> None:
    """Wait until the relay has applied the written links. Raises JsctlError."""
    written = str((network_folder / relay.FILE).stat().st_mtime_ns)
    for _ in range(250):
        with contextlib.suppress(FileNotFoundError):
            if (network_folder / relay.APPLIED).read_text() == written:
                return
        await asyncio.sleep(0.02)
    raise JsctlError("the relay of the network does not answer", f"its log is {network_folder / RELAY}.log")


async def take_down(network: LocalNetwork, environ: Mapping[str, str], *, keep_data: bool) -> None:
    """Stop a network; without `keep_data`, remove its folder."""
    if network.in_use:
        await stop(network.folder, environ)
    if not keep_data:
        store = ContextStore.from_environment(environ)
        names = [login.context for login in network.state.logins if store.exists(login.context)]
        contexts.forget(environ, names, str(network.folder))
        shutil.rmtree(network.folder)
        folder.forget(environ, network.folder)


class Scaling(NamedTuple):
    """A change of a cluster's size. spec: of the whole network afterwards."""

    spec: NetworkSpec
    surplus: list[NodeState]
    missing: set[str]


def plan_scaling(network: LocalNetwork, cluster: str, size: int) -> Scaling:
    """Return the servers of a cluster that are surplus, or missing. Raises JsctlError."""
    state = network.state
    spec = apply_scale(load_spec(state.source), {**state.scale, cluster: size})
    members = {node.name for node in state.nodes if node.cluster == cluster}
    if not members:
        raise NotFound(
            f"network {state.name} has no cluster {cluster!r}",
            f"its clusters are {', '.join(dict.fromkeys(node.cluster for node in state.nodes))}",
        )
    names = {
        server.name for members in spec.clusters if members.name == cluster for server in members.servers
    }
    surplus = [node for node in state.nodes if node.name in members - names]
    return Scaling(spec, surplus, names - members)


async def scale(
    network: LocalNetwork, cluster: str, size: int, binary: Binary, environ: Mapping[str, str]
) -> list[NodeState]:
    """Scale a cluster to `size` servers; return those that were started or stopped. Raises JsctlError."""
    state = network.state
    spec, surplus, missing = plan_scaling(network, cluster, size)
    state.scale[cluster] = size
    if surplus:
        await stop_nodes(network, surplus)
        state.nodes = [node for node in state.nodes if node not in surplus]
        with folder.changing(network.folder):
            save_state(network.folder, state)
        return surplus
    with folder.changing(network.folder):
        topology = compile_network(spec, network.folder, keep_accounts=True)
        plan = Plan(topology, network.folder, private=True, source=state.source, digest=state.digest)
        added = Network(plan).add_nodes(binary, state, missing)
    await start_nodes(LocalNetwork(network.folder, state), added, environ)
    return added


def compute_digest(spec: NetworkSpec) -> str:
    """Return a digest of a network's description, to see whether it has changed."""
    text = repr((spec, [account.users for account in spec.accounts]))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def apply_scale(spec: NetworkSpec, sizes: Mapping[str, int]) -> NetworkSpec:
    """Return a network whose clusters have other sizes. New servers are `CLUSTER-N`."""
    return replace(
        spec, clusters=tuple(cluster.resize(sizes.get(cluster.name, 0)) for cluster in spec.clusters)
    )


def copy_contexts(network: LocalNetwork, environ: Mapping[str, str]) -> dict[str, str]:
    """Copy a network's contexts to the folder of the user's contexts. Returns new name by old name."""
    network_store, user_store = open_private_store(network.folder), ContextStore.from_environment(environ)
    return {
        name: contexts.save(user_store, name, network_store.load(name).raw, network.folder)
        for name in network_store.names()
    }
