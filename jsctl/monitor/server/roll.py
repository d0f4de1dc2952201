"""Whether a server can be restarted while streams, consumers and JetStream itself stay there for clients."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from jsctl.monitor.server.replicas import (
    Json,
    Replica,
    list_consumer_replicas,
    list_stream_replicas,
)
from jsctl.monitor.server.requests import fetch_details, ping
from jsctl.nats.connection import Connection


class RollingServer(NamedTuple):
    """A server in the order of a rolling restart. leads: streams and consumers with replicas that it leads.
    alone: streams that only it has, which are away while it restarts. uptime: as the server writes it. waits:
    why it should not be restarted now."""

    server: str
    cluster: str
    domain: str
    leads: int
    is_meta_leader: bool
    alone: int
    uptime: str
    waits: Sequence[str]


async def fetch_rolling_servers(connection: Connection) -> list[RollingServer]:
    """Ask all servers; return them in the order in which to restart them. Raises what requests raise."""
    details = await fetch_details(connection)
    healths = await ping(connection, "HEALTHZ", {})
    variables = await ping(connection, "VARZ", {})
    return list_servers(details, healths, variables)


def list_servers(
    details: Sequence[Json], healths: Sequence[Json], variables: Sequence[Json]
) -> list[RollingServer]:
    """Return servers, those that lead least first, and leaders of meta groups last, as each restart of one is
    an election. The arguments are answers to JSZ, HEALTHZ and VARZ.
    """
    streams, consumers = list_stream_replicas(details), list_consumer_replicas(details)
    leading = {_identify(each): each for each in (*streams, *consumers) if each.leads}
    uptimes = {reply["server"]["id"]: str((reply.get("data") or {}).get("uptime", "")) for reply in variables}
    ill = list(_find_ill_servers(healths))
    rows = []
    for server, data in {reply["server"]["id"]: reply for reply in reversed(details)}.items():
        about = data["server"]
        name, domain = str(about["name"]), str(about.get("domain") or "")
        held = [each for each in (*streams, *consumers) if each.server_id == server]
        waits = [*_find_meta_faults(details, domain, name)]  # a server that is away is why others are ill
        waits += [text for other, where, text in ill if where == domain and other != server]
        for each in held:
            waits += _find_group_faults(each, leading, name)
        meta = (data.get("data") or {}).get("meta_cluster") or {}
        rows.append(
            RollingServer(
                name,
                str(about.get("cluster") or ""),
                domain,
                sum(each.leads and _has_replicas(each) for each in held),
                meta.get("leader") == name,
                sum(not each.consumer and not _has_replicas(each) for each in held),
                uptimes.get(server, ""),
                list(dict.fromkeys(waits)),
            )
        )
    return sorted(rows, key=lambda row: (row.is_meta_leader, row.leads, row.server))


def _identify(replica: Replica) -> tuple[str, str, str, str]:
    return replica.account, replica.name, replica.consumer, replica.group


def _has_replicas(replica: Replica) -> bool:
    """Return whether other servers have a stream or consumer, too, as its configuration says."""
    config = (replica.stream if replica.consumer else replica.detail).get("config") or {}
    own = (replica.detail.get("config") or {}).get("num_replicas") if replica.consumer else 0
    return int(own or config.get("num_replicas") or 1) > 1


def _find_ill_servers(healths: Sequence[Json]) -> Iterator[tuple[str, str, str]]:
    """Yield the ids of servers that say that they are not healthy, with their domain and the reason."""
    for reply in healths:
        data = reply.get("data") or {}
        if data.get("status") != "ok":
            errors = [str(each.get("error", "")) for each in data.get("errors") or ()]
            why = str(
                data.get("error") or "; ".join(errors[:3]) or data.get("status") or "it does not say why"
            )
            about = reply["server"]
            where, text = str(about.get("domain") or ""), f"server {about['name']} is not healthy: {why}"
            yield str(about["id"]), where, text


def _find_meta_faults(details: Sequence[Json], domain: str, server: str) -> Iterator[str]:
    """Yield what the meta group of a domain lacks, but for the server itself."""
    there = {
        str(reply["server"]["name"]): (reply.get("data") or {}).get("meta_cluster") or {}
        for reply in details
        if str(reply["server"].get("domain") or "") == domain
    }
    metas = [meta for meta in there.values() if meta]
    if not metas:
        return  # not in a cluster
    leader = next((meta for name, meta in there.items() if meta.get("leader") == name), None)
    if leader is None:
        yield "the meta group has no leader"
        return
    for peer in leader.get("replicas") or ():
        name = str(peer.get("name"))
        if name != server and (peer.get("offline") or name not in there):
            yield f"server {name} is away"
        elif name != server and not peer.get("current"):
            yield f"server {name} is behind in the meta group"


def _find_group_faults(
    held: Replica, leading: Mapping[tuple[str, str, str, str], Replica], server: str
) -> Iterator[str]:
    """Yield why a stream or consumer with replicas cannot do without a server."""
    if not _has_replicas(held):
        return
    noun = f"consumer {held.name} > {held.consumer}" if held.consumer else f"stream {held.name}"
    label = f"{noun} of account {held.account}"
    leader = leading.get(_identify(held))
    if leader is None:
        yield f"{label} has no leader"
        return
    for peer in (leader.detail.get("cluster") or {}).get("replicas") or ():
        if peer.get("name") != server and (peer.get("offline") or not peer.get("current")):
            yield f"{label}: the replica on {peer.get('name')} is not current"
