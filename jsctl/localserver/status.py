"""The current status of a network: its processes, and what its servers report."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jsctl.contexts.settings import Settings
from jsctl.errors import JsctlError
from jsctl.jetstream.api import Json
from jsctl.jetstream.config.origins import api_to_domain, pair_origins
from jsctl.jetstream.message.copies import CONTACT
from jsctl.jetstream.state import read_last_active
from jsctl.localserver.network import open_private_store
from jsctl.localserver.networks import LocalNetwork
from jsctl.localserver.readiness import (
    HEALTH,
    STREAMS,
    forgive_lone_streams,
    read_context_settings,
)
from jsctl.localserver.state import NodeState
from jsctl.monitor.server.reports import build_health_rows
from jsctl.monitor.server.requests import ping
from jsctl.nats.connection import Connection

_CONNECT_SECONDS = 2
_PARTS = ("filter_subject", "subject_transforms", "opt_start_seq", "opt_start_time")


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
    """A stream. lag: messages behind the farthest of its origins; None without any, or when that is unknown.

    origins: the configuration of each mirror and source with what the server reports of it.
    """

    domain: str
    account: str
    name: str
    leader: str
    replicas: int
    current: int
    messages: int
    last_sequence: int
    origins: list[tuple[Json, Json]]
    lag: int | None = None


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
        disturbed = any(link.get(key) for link in self.links.values() for key in ("down", "drop", "without"))
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
        *(_request_all(settings, running) for settings in list_system_logins(network))
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
    for stream in streams.values():
        stream.lag = _compute_lag(stream, streams)
    status.streams = [streams[key] for key in sorted(streams)]
    return status


def list_system_logins(network: LocalNetwork) -> Iterator[Settings]:
    """Yield a login of the system account at one running server of each cluster."""
    login = network.state.find_system_login()
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
            last_sequence = int((stream.get("state") or {}).get("last_seq", 0))
            # Servers since 2.15 say it for sources, apart from 0.
            reached = {"seq": last_sequence} if stream.get("mirror") or not last_sequence else {}
            yield StreamStatus(
                domain,
                account.get("name", ""),
                stream["name"],
                cluster.get("leader", "") or reply["server"]["name"],
                max(1 + len(replicas), int((stream.get("config") or {}).get("num_replicas", 1))),
                1 + sum(bool(peer.get("current")) for peer in replicas),
                int((stream.get("state") or {}).get("messages", 0)),
                last_sequence,
                [(config, {**reached, **state}) for config, state in pair_origins({"config": {}, **stream})],
            )


def _compute_lag(stream: StreamStatus, streams: Mapping[tuple[str, str, str], StreamStatus]) -> int | None:
    """Return how far a stream is behind, by sequences where it copies all of a known stream.

    What its server reports counts while it hears from the origin: in an outage it repeats its last report.
    """
    lags = []
    for config, state in stream.origins:
        api = str((config.get("external") or {}).get("api") or "").rstrip(".")
        domain = api_to_domain(api) if api else stream.domain
        origin = streams.get((domain, stream.account, str(config.get("name", ""))))
        if origin and "seq" in state and not any(config.get(key) for key in _PARTS):
            lags.append(max(origin.last_sequence - int(state["seq"]), 0))
        elif 0 <= read_last_active(state) <= CONTACT:
            lags.append(int(state.get("lag") or 0))
        else:
            return None
    return max(lags, default=None)
