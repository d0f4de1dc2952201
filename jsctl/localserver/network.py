"""A network of real servers on this machine: start it, wait until it replies, change and stop it."""

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from jsctl.base.files import write_atomically
from jsctl.contexts.store import ContextStore
from jsctl.errors import BadInput, JsctlError
from jsctl.localserver import contexts, folder, processes, relay
from jsctl.localserver.binary import Binary
from jsctl.localserver.ports import reserve_ports
from jsctl.localserver.process import Guard, build_module_command
from jsctl.localserver.processes import Process
from jsctl.localserver.readiness import REPLY_SECONDS, wait_for_login
from jsctl.localserver.startup import START_SECONDS, await_while_running, explain, launch, read_info, read_url
from jsctl.localserver.state import (
    CONTEXTS,
    LoginState,
    NetworkState,
    NodeState,
    load_state,
    save_state,
)
from jsctl.localserver.topology import Link, Login, Node, Topology

T = TypeVar("T")

RELAY = "relay"
"""The name of the relay's process."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a network to start.

    port: the client port of the first node; None for the default, 0 for free ports everywhere.
    extra: more arguments for each nats-server. temporary: remove the contexts when the network stops.
    private: write the contexts into the network's own folder. source: the description of the network.
    digest: of that description.
    """

    topology: Topology
    folder: Path
    port: int | None = None
    store: Path | None = None  #: JetStream's store folder, for a configuration without one
    extra: Sequence[str] = ()
    temporary: bool = False
    private: bool = False
    source: str = ""
    digest: str = ""


@dataclass(slots=True)
class Server:
    """A running node. info: the INFO that the server sends to clients."""

    node: Node
    process: Process
    log: Path
    url: str = ""
    info: Mapping[str, Any] = field(default_factory=dict)

    @property
    def pid(self) -> int:
        """Its process number."""
        return self.process.pid


class Ended(Exception):
    """A server ended with status 0 before it was ready, as after `--help`. Its text is the output."""


class Network:
    """A started network. The context of `start` stops it at its end, unless `leave` is called."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.folder = plan.folder
        self.servers: dict[str, Server] = {}
        self.contexts: dict[str, str] = {}  #: name of a login -> name of its context
        self.edited: list[str] = []  #: configurations that somebody edited, which are kept
        self._keeps_running = False
        self._guard: Guard | None = None

    @classmethod
    @contextlib.asynccontextmanager
    async def start(cls, plan: Plan, binary: Binary, environ: Mapping[str, str]) -> AsyncIterator["Network"]:
        """Start a network, wait until it replies, and write its contexts.

        Raises JsctlError when it does not start, after stopping everything; Ended.
        """
        network = cls(plan)
        with folder.creating(plan.folder):
            folder.refuse_in_use(plan.folder)
            guard = network._guard = await Guard.open(plan.folder, environ)
            try:
                await network._start(binary, environ)
                if plan.temporary:
                    guard.forget(list(network.contexts.values()))
            except BaseException:
                await guard.close()
                raise
        try:
            yield network
        finally:
            if not network._keeps_running:
                await guard.close()
                # A guard that was killed has stopped nothing.
                await processes.stop(list(processes.find_all(plan.folder).values()))

    async def leave(self) -> None:
        """Keep the servers running when the context ends. `stop` stops them."""
        self._keeps_running = True
        if self._guard is not None:
            await self._guard.leave()

    async def wait_for_failure(self) -> JsctlError | None:
        """Wait until a server ends; return why it ended, or None when somebody stopped the network."""
        while True:
            await asyncio.sleep(0.1)
            ended = [server for server in self.servers.values() if not server.process.is_running()]
            if self._guard is not None and not self._guard.running:
                return JsctlError("the process that watches the servers has ended", "start them again")
            if not ended:
                continue
            state = load_state(self.folder)
            wanted_states = {node.name: node.wanted for node in state.nodes} if state else {}
            failed = [server for server in ended if wanted_states.get(server.node.name, "up") == "up"]
            if failed:
                return explain(failed[0].node.name, failed[0].process.status or 0, failed[0].log)
            if len(ended) == len(self.servers):
                return None

    async def _start(self, binary: Binary, environ: Mapping[str, str]) -> None:
        """Start everything. The caller holds the lock on the folder."""
        for stale in self.folder.glob("nats-server_*.ports"):  # left by a killed server
            stale.unlink()
        previous = load_state(self.folder)
        topology = self.plan.topology
        with reserve_ports(topology, self.plan.port, previous.ports if previous else {}) as (ports, release):
            self.edited = folder.write_configs(self.folder, topology, ports)
            state = self._build_state(binary, ports, previous)
            if self.plan.private:
                # Written before the first server starts, so that a later jsctl can manage what a killed one
                # leaves.
                self._save_contexts(environ, ports, state)
            save_state(self.folder, state)
            release()
            start_relay(self.folder, state, environ)
        try:
            async with asyncio.timeout(START_SECONDS):
                for node in topology.nodes:
                    self._launch(node, state.find_node(node.name), environ)
                for server in self.servers.values():
                    server.url = await self._await_while_running(read_url(self.folder, server.pid))
                    server.info = await self._await_while_running(read_info(server.url))
                    state.find_node(server.node.name).url = server.url
        except TimeoutError:
            raise JsctlError(
                f"the servers did not start within {START_SECONDS}s", f"their logs are in {self.folder}"
            ) from None
        save_state(self.folder, state)
        for login in topology.logins:
            await self._wait_for_login(login, ports)
        if not self.plan.private:
            self._save_contexts(environ, ports, state)
        save_state(self.folder, state)

    def add_nodes(self, binary: Binary, state: NetworkState, names: Collection[str]) -> list[NodeState]:
        """Write the configurations of further servers of a network that runs. Returns their states."""
        topology = self.plan.topology
        with reserve_ports(topology, None, state.ports, keep=True) as (ports, _):
            folder.write_configs(self.folder, topology, ports)
            new_state = self._build_state(binary, ports, state)
        existing_nodes = {node.name: node for node in state.nodes}
        state.nodes = [existing_nodes.get(node.name, node) for node in new_state.nodes]
        state.ports = new_state.ports
        state.links = {name: {**state.links.get(name, {}), **link} for name, link in new_state.links.items()}
        save_state(self.folder, state)
        write_links(self.folder, state)
        return [node for node in state.nodes if node.name in names]

    def update_contexts(self, environ: Mapping[str, str], state: NetworkState) -> None:
        """Write the contexts of a running network, as its description now has them."""
        self._save_contexts(environ, state.ports, state)
        save_state(self.folder, state)

    def _build_state(
        self, binary: Binary, ports: Mapping[str, int], previous: NetworkState | None
    ) -> NetworkState:
        topology = self.plan.topology
        nodes = [
            NodeState(
                node.name,
                node.cluster or node.name,
                node.domain,
                self._build_argv(node, binary),
                # A configuration of the user's is run in the current folder, as by nats-server itself.
                str(Path.cwd() if node.file else self.folder),
            )
            for node in topology.nodes
        ]
        links = {link.name: _build_relay_link(link, ports) for link in topology.links}
        return NetworkState(
            topology.name,
            self.plan.source,
            binary.version,
            nodes,
            [],
            links,
            self.plan.temporary,
            dict(ports),
            previous.scale if previous else {},
            self.plan.digest,
        )

    def _build_argv(self, node: Node, binary: Binary) -> list[str]:
        argv = [
            node.binary or binary.path,
            "-c",
            str(node.file.absolute() if node.file else f"{node.name}.conf"),
        ]
        argv += ["--ports_file_dir", str(self.folder)]
        if node.file and self.plan.port is not None:
            argv += ["-p", str(self.plan.port or -1)]
        if self.plan.store:
            argv += ["-js", "-sd", str(self.plan.store)]
        return [*argv, *self.plan.extra]

    def _launch(self, node: Node, state: NodeState, environ: Mapping[str, str]) -> None:
        process = launch(self.folder, state, environ)
        self.servers[node.name] = Server(node, process, self.folder / f"{node.name}.log")

    async def _await_while_running(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of `work`. Raises JsctlError or Ended if a server ends first."""
        return await await_while_running(work, self._find_ended)

    def _find_ended(self) -> Exception | None:
        ended = (server for server in self.servers.values() if not server.process.is_running())
        return next((self._build_end_error(server) for server in ended), None)

    def _build_end_error(self, server: Server) -> Exception:
        status = server.process.status or 0
        if status == 0:
            output = server.log.read_text(encoding="utf-8", errors="replace")
            if output.startswith("flag "):  # nats-server ends with 0 for a wrong flag, too
                return BadInput(f"nats-server: {output.splitlines()[0]}")
            return Ended(output)
        return explain(server.node.name, status, server.log, str(self.plan.store or self.folder))

    async def _wait_for_login(self, login: Login, ports: Mapping[str, int]) -> None:
        """Wait until everything that a login must reach replies. Raises JsctlError."""
        if not login.domains and not login.servers:
            return
        raw = self._build_context(login, ports)
        try:
            await self._await_while_running(wait_for_login(raw, login.domains, login.servers))
        except TimeoutError:
            edited = f"{', '.join(self.edited)} was edited; " if self.edited else ""
            raise JsctlError(
                f"the servers run, but user {login.user or login.name} did not reach all of them in"
                f" {REPLY_SECONDS}s",
                f"{edited}logs are in {self.folder}",
            ) from None

    def _build_context(self, login: Login, ports: Mapping[str, int]) -> dict[str, Any]:
        """Return the context of a login, as its file holds it."""
        scheme = "tls" if login.ca else "nats"
        urls = [
            f"{scheme}://127.0.0.1:{port}"
            if (port := ports.get(login.port.format(node=node)))
            else self.servers[node].url
            for node in login.nodes
        ]
        return {
            "description": login.description,
            "url": ",".join(urls),
            "user": login.user,
            "password": login.password,
            "creds": login.creds,
            "ca": login.ca,
        }

    def _save_contexts(
        self, environ: Mapping[str, str], ports: Mapping[str, int], state: NetworkState
    ) -> None:
        state.logins = []
        store = ContextStore.from_environment(environ)
        if self.plan.private:
            store = open_private_store(self.folder)
        for login in self.plan.topology.logins:
            raw = self._build_context(login, ports)
            if self.plan.private:
                store.save(login.name, raw)
                self.contexts[login.name] = login.name
            else:
                self.contexts[login.name] = contexts.save(store, login.name, raw, self.folder)
            name = self.contexts[login.name]
            state.logins.append(LoginState(name, list(login.domains), login.servers, list(login.clusters)))
        if self.plan.private and not store.selected() and state.logins:
            store.select(state.logins[0].context)


async def start_network(plan: Plan, binary: Binary, environ: Mapping[str, str]) -> Network:
    """Start a network that keeps running when jsctl ends. Raises JsctlError after stopping everything."""
    network = Network(plan)
    try:
        await network._start(binary, environ)
    except BaseException:
        await processes.stop(list(processes.find_all(plan.folder).values()))
        raise
    return network


def _build_relay_link(link: Link, ports: Mapping[str, int]) -> dict[str, Any]:
    """Return a link in the form that the relay reads."""
    hops = {str(ports[at]): ports[target] for at, target in link.hops.items()}
    return {"kind": link.kind, "hops": hops, "ends": list(link.ends), "gateway": link.gateway}


def open_private_store(network_folder: Path) -> ContextStore:
    """Return the store of the contexts in a network's own folder."""
    return ContextStore(network_folder / CONTEXTS / "nats")


def start_relay(network_folder: Path, state: NetworkState, environ: Mapping[str, str]) -> None:
    """Start the relay of a network that has links, unless it runs."""
    if state.links and not processes.is_running(network_folder, RELAY):
        write_links(network_folder, state)
        argv = build_module_command("jsctl.localserver.relay", str(network_folder))
        processes.start(
            network_folder, RELAY, argv, network_folder, folder.start_log(network_folder, RELAY), environ
        )


def write_links(network_folder: Path, state: NetworkState) -> None:
    """Write the state of the links for the relay."""
    write_atomically(network_folder / relay.FILE, json.dumps(state.links, indent=2) + "\n", durable=False)


def list_running(network_folder: Path) -> list[str]:
    """Return the names of the processes of a folder that run."""
    return sorted(processes.find_all(network_folder))


async def stop(network_folder: Path, environ: Mapping[str, str] | None = None) -> None:
    """Stop the network that runs in a folder, and remove its temporary contexts.

    Raises JsctlError when there is none.
    """
    running = processes.find_all(network_folder)
    if not running:
        raise JsctlError(f"no local server runs in {network_folder}")
    with folder.changing(network_folder):
        state = load_state(network_folder)
        if state:
            for node in state.nodes:
                node.wanted = "stopped"
            with contextlib.suppress(OSError):  # it must also stop on a full disk
                save_state(network_folder, state)
        order = [RELAY, *(node.name for node in state.nodes)] if state else []
        ordered = sorted(
            running.values(), key=lambda process: order.index(process.name) if process.name in order else -1
        )
        await processes.stop(ordered)
        if state and state.temporary:
            names = [login.context for login in state.logins]
            contexts.forget(os.environ if environ is None else environ, names, str(network_folder))
