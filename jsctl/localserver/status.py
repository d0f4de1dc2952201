"""The current status of a network: its processes, and what its servers report."""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from jsctl.contexts.settings import Settings
from jsctl.errors import JsctlError
from jsctl.jetstream.api import Api
from jsctl.localserver.network import open_private_store
from jsctl.localserver.networks import LocalNetwork
from jsctl.localserver.readiness import (
    HEALTH,
    STREAMS,
    find_behind,
    find_unhealthy,
    forgive_lone_streams,
    read_context_settings,
)
from jsctl.localserver.state import LoginState, NodeState
from jsctl.monitor.server.reports import build_health_rows
from jsctl.monitor.server.requests import ping
from jsctl.nats.connection import Connection

Json = dict[str, Any]

READY_SECONDS = 120.0
"""How long a network may take to be ready after its servers accept clients."""

_CONNECT_SECONDS = 2
_REPORT_SECONDS = 3.0


@dataclass(slots=True)
class ServerStatus:
    """A server. status: of its process. error: why it is unhealthy. leads: whether it leads its domain's meta
    group."""

    node: NodeState
    status: str
    server_name: str = ""
    version: str = ""
    error: str = ""
    answers: bool = False
    leads: bool = False
    leafs: int = 0
    gateways: int = 0
    streams: int = 0


@dataclass(slots=True)
class StreamStatus:
    """A stream. lag: messages behind the farthest of its origins; -1 when it has none."""

    domain: str
    account: str
    name: str
    leader: str
    replicas: int
    current: int
    messages: int
    lag: int = -1


@dataclass(slots=True)
class NetworkStatus:
    """A network. links: settings by name."""

    network: LocalNetwork
    servers: list[ServerStatus]
    streams: list[StreamStatus] = field(default_factory=list)

    @property
    def links(self) -> dict[str, dict[str, Any]]:
        """The settings of its links, by name."""
        return self.network.state.links

    @property
    def healthy(self) -> bool:
        """Whether all servers run, answer and are healthy, and no link is disturbed."""
        disturbed = any(link.get(key) for link in self.links.values() for key in ("down", "drop"))
        return not disturbed and all(server.answers and not server.error for server in self.servers)


async def fetch_status(network: LocalNetwork) -> NetworkStatus:
    """Fetch the status of a network. Servers that cannot be reached are shown without details."""
    status = NetworkStatus(
        network, [ServerStatus(node, network.get_status(node)) for node in network.state.nodes]
    )
    by_url = {server.node.url.rpartition(":")[2]: server for server in status.servers}
    streams: dict[tuple[str, str, str], StreamStatus] = {}
    # Parts of a network that cannot reach each other are queried separately.
    running = sum(server.status == "up" for server in status.servers)
    for answers in await asyncio.gather(
        *(_request_all(settings, running) for settings in _list_system_logins(network))
    ):
        for reply in answers["VARZ"]:
            server = by_url.get(str(reply["data"].get("port", "")))
            if server is None:
                continue
            server.answers = True
            server.server_name = reply["server"].get("name", "")
            server.version = reply["server"].get("ver", "")
            server.leafs = int(reply["data"].get("leafnodes", 0))
        by_name = {server.server_name: server for server in status.servers if server.server_name}
        for reply in answers["JSZ"]:
            server = by_name.get(reply["server"]["name"])
            if server is not None:
                data = reply.get("data") or {}
                server.leads = (data.get("meta_cluster") or {}).get("leader") == server.server_name
                server.streams = int(data.get("streams", 0))
                for stream in _list_streams(reply):
                    existing = streams.get((stream.domain, stream.account, stream.name))
                    if existing is None or stream.leader == server.server_name:
                        streams[stream.domain, stream.account, stream.name] = stream
        for reply in answers["GATEWAYZ"]:
            server = by_name.get(reply["server"]["name"])
            if server is not None:
                server.gateways = len((reply.get("data") or {}).get("outbound_gateways") or {})
        for row in build_health_rows(forgive_lone_streams(answers["HEALTHZ"], answers["JSZ"])):
            if row.server in by_name:
                by_name[row.server].error = row.reason
    status.streams = [streams[key] for key in sorted(streams)]
    return status


async def wait_until_ready(
    network: LocalNetwork, report: Callable[[str], None], seconds: float = READY_SECONDS
) -> None:
    """Wait until a network is ready: see `find_unready`. report: called every few seconds with what is
    missing.

    Raises JsctlError when it is not ready after `seconds`.
    """
    sentences: list[str] = []
    started_at = reported_at = time.monotonic()
    while (now := time.monotonic()) < started_at + seconds:
        sentences = await find_unready(network)
        if not sentences:
            return
        if now > reported_at + _REPORT_SECONDS:
            reported_at = now
            report(f"waiting: {sentences[0]}")
        await asyncio.sleep(0.1)
    remainder = f", and {len(sentences) - 1} more" if len(sentences) > 1 else ""
    raise JsctlError(
        f"network {network.state.name} is not ready after {seconds:g}s: {' '.join(sentences[:1])}{remainder}",
        f"see jsctl server network status {network.state.name}",
    )


async def find_unready(network: LocalNetwork) -> list[str]:
    """Return sentences about what is not ready: servers, leaders of domains, streams that copy."""
    sentences = [
        f"server {node.name} is not running"
        for node in network.state.nodes
        if network.get_status(node) == "ended"
    ]
    up = [node for node in network.state.nodes if network.get_status(node) == "up"]
    all_up = len(up) == len(network.state.nodes)
    store = open_private_store(network.folder)
    for login in network.state.logins:
        if sentences:
            break
        raw = store.load(login.context).raw
        if not _has_server(network, str(raw.get("url", "")), up):
            continue  # all its servers were stopped on purpose
        try:
            async with asyncio.timeout(_CONNECT_SECONDS * 3):
                sentences = await _find_unready(read_context_settings(raw), login, len(up), all_up)
        except (TimeoutError, JsctlError) as error:
            sentences = [f"context {login.context}: {error or 'no answer in time'}"]
    return sentences


def _has_server(network: LocalNetwork, urls: str, up: Sequence[NodeState]) -> bool:
    """Return whether one of the URLs leads to one of the servers, directly or through the relay."""
    hops = {str(at): str(to) for link in network.state.links.values() for at, to in link["hops"].items()}
    ports = [url.rpartition(":")[2] for url in urls.split(",")]
    running = {node.url.rpartition(":")[2] for node in up}
    return any(hops.get(port, port) in running for port in ports)


async def _find_unready(settings: Settings, login: LoginState, up: int, all_up: bool) -> list[str]:
    connection = await Connection.open(settings)
    try:
        if login.servers and all_up:
            return await find_unhealthy(connection, min(login.servers, up))
        sentences = []
        # While parts of the network are stopped on purpose, only the first domain must reply.
        for domain in login.domains if all_up else login.domains[:1]:
            sentences += await find_behind(Api(connection, domain=domain))
        return sentences
    finally:
        await connection.close()


def _list_system_logins(network: LocalNetwork) -> Iterator[Settings]:
    """Yield a login of the system account at one running server of each cluster."""
    login = next((candidate for candidate in network.state.logins if candidate.servers), None)
    if login is None:
        return
    raw = open_private_store(network.folder).load(login.context).raw
    for cluster in dict.fromkeys(node.cluster for node in network.state.nodes):
        nodes = [n for n in network.state.nodes if n.cluster == cluster and network.get_status(n) == "up"]
        if urls := [node.url for node in nodes if node.url]:  # empty until it accepts clients
            yield read_context_settings({**raw, "url": ",".join(urls)})


async def _request_all(settings: Settings, expect: int) -> dict[str, Sequence[Json]]:
    """Return the replies of all servers that a login reaches, by kind. expect: how many reply if nothing is
    wrong."""
    kinds = ("VARZ", "JSZ", "GATEWAYZ", "HEALTHZ")
    try:
        async with asyncio.timeout(_CONNECT_SECONDS):
            connection = await Connection.open(settings)
    except (TimeoutError, JsctlError):
        return dict.fromkeys(kinds, ())
    try:
        bodies = {"JSZ": STREAMS, "HEALTHZ": HEALTH}
        requests = [ping(connection, kind, bodies.get(kind), expect=expect) for kind in kinds]
        return dict(zip(kinds, await asyncio.gather(*requests), strict=True))
    except JsctlError:
        return dict.fromkeys(kinds, ())
    finally:
        await connection.close()


def _list_streams(reply: Json) -> Iterator[StreamStatus]:
    domain = reply["server"].get("domain", "")
    for account in (reply.get("data") or {}).get("account_details") or ():
        for stream in account.get("stream_detail") or ():
            cluster = stream.get("cluster") or {}
            replicas = cluster.get("replicas") or []
            origins = [stream["mirror"]] if stream.get("mirror") else stream.get("sources") or []
            yield StreamStatus(
                domain,
                account.get("name", ""),
                stream["name"],
                cluster.get("leader", "") or reply["server"]["name"],
                max(1 + len(replicas), int((stream.get("config") or {}).get("num_replicas", 1))),
                1 + sum(bool(peer.get("current")) for peer in replicas),
                int((stream.get("state") or {}).get("messages", 0)),
                max((int(origin.get("lag", 0)) for origin in origins), default=-1),
            )
