"""The networks on this machine, and the actions on their servers and links."""

import hashlib
import shutil
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from jsctl.base.command_lines import build_line
from jsctl.base.user_folders import expand_home
from jsctl.contexts.store import ContextStore
from jsctl.errors import BadInput, JsctlError, NotFound
from jsctl.localserver import contexts, folder, processes
from jsctl.localserver.binary import Binary
from jsctl.localserver.compile import compile_network
from jsctl.localserver.network import (
    Network,
    Plan,
    open_private_store,
    start_network,
    start_relay,
    stop,
)
from jsctl.localserver.spec import NetworkSpec
from jsctl.localserver.spec_reader import load_spec
from jsctl.localserver.startup import launch, wait_for_servers
from jsctl.localserver.state import FILE, LAME_DUCK, NetworkState, NodeState, load_state, save_state
from jsctl.registry import find_noun

VARIABLE = "JSCTL_NETWORK"
"""The variable with the name of the network of a shell that `network shell` started."""


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

    def find_cluster(self, name: str) -> list[NodeState]:
        """Return the servers of a cluster. Raises NotFound."""
        members = [node for node in self.state.nodes if node.cluster == name]
        if not members:
            clusters = ", ".join(dict.fromkeys(node.cluster for node in self.state.nodes))
            raise NotFound(
                f"network {self.state.name} has no cluster {name!r}", f"its clusters are {clusters}"
            )
        return members

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


def find_network(environ: Mapping[str, str], name: str) -> LocalNetwork:
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
            raise NotFound(
                "there is no local network", f"start one with {build_line('server network up', 'hub-leaf')}"
            )
        names = ", ".join(network.state.name for network in candidates)
        raise BadInput(f"there are several networks: {names}", f"name one, or set {VARIABLE}")
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
        folder.remember(environ, network_folder)
        await start_nodes(network, state.nodes, environ)
        return network, None
    try:
        with folder.creating(network_folder):
            folder.remember(environ, network_folder)
            digest = compute_digest(spec)
            spec = apply_scale(spec, state.scale if state else {})
            topology = compile_network(spec, network_folder)
            plan = Plan(topology, network_folder, port=port, private=True, source=source, digest=digest)
            started = await start_network(plan, binary, environ)
            state = load_state(network_folder)
    finally:
        if not network_folder.exists():
            folder.forget(environ, network_folder)
    if state is None:
        raise JsctlError(f"{network_folder / FILE} no longer exists")
    return LocalNetwork(network_folder, state), started


async def start_nodes(
    network: LocalNetwork, nodes: Sequence[NodeState], environ: Mapping[str, str]
) -> list[NodeState]:
    """Start servers that are not running, resume paused ones, and wait until they accept clients.

    Returns those that were started or resumed.
    """
    changed = []
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
                changed.append(node)
            elif node.wanted == "paused":
                processes.send(process, signal.SIGCONT)
                changed.append(node)
            node.wanted = "up"
            if not node.url:  # a killed jsctl may not have seen it ready either
                starting.append((node, process))
        save_state(network.folder, network.state)
        await wait_for_servers(network.folder, starting)
        save_state(network.folder, network.state)
    return changed


class Action(NamedTuple):
    """What can be done to servers.

    signal: its name, as Windows has few; empty stops them properly. wanted: the servers' status afterwards.
    takes: the statuses of servers that it changes; others stay as they are.
    """

    signal: str
    wanted: str
    takes: frozenset[str]


_RUNNING = frozenset({"up", "paused", LAME_DUCK})
STOP = Action("", "stopped", _RUNNING)
KILL = Action("SIGKILL", "killed", _RUNNING)
PAUSE = Action("SIGSTOP", "paused", frozenset({"up"}))
RESUME = Action("SIGCONT", "up", frozenset({"paused"}))
ENTER_LAME_DUCK = Action("SIGUSR2", LAME_DUCK, frozenset({"up"}))
"""They hand over leadership and clients, then end."""


def select_affected(network: LocalNetwork, nodes: Sequence[NodeState], action: Action) -> list[NodeState]:
    """Return the servers that an action changes."""
    return [node for node in nodes if network.get_status(node) in action.takes]


async def apply_action(network: LocalNetwork, nodes: Sequence[NodeState], action: Action) -> list[NodeState]:
    """Do something to servers; return those that it changed. After a stop or kill all of them have ended."""
    with folder.changing(network.folder):
        affected = select_affected(network, nodes, action)
        running = [process for node in affected if (process := network.find_process(node))]
        for node in nodes:
            # One that ended by itself and is stopped is no longer missing.
            if node in affected or (action in (STOP, KILL) and network.get_status(node) == "ended"):
                node.wanted = action.wanted
        try:
            save_state(network.folder, network.state)
        finally:  # on a full disk, too
            await _send(running, action)
    return affected


async def _send(running: Sequence[processes.Process], action: Action) -> None:
    if not action.signal:
        await processes.stop(running)
        return
    for process in running:
        processes.send(process, signal.Signals[action.signal])
    if action is KILL:
        await processes.wait_until_ended(running, processes.GRACE_SECONDS)


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
    members = network.find_cluster(cluster)
    names = {
        server.name for members in spec.clusters if members.name == cluster for server in members.servers
    }
    surplus = [node for node in members if node.name not in names]
    return Scaling(spec, surplus, names - {node.name for node in members})


async def scale(
    network: LocalNetwork, cluster: str, size: int, binary: Binary, environ: Mapping[str, str]
) -> list[NodeState]:
    """Scale a cluster to `size` servers; return those that were started or stopped. Raises JsctlError."""
    state = network.state
    spec, surplus, missing = plan_scaling(network, cluster, size)
    state.scale[cluster] = size
    if surplus:
        await apply_action(network, surplus, STOP)
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
