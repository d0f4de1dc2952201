"""Spreading the connections of clients over the servers of their cluster.

Servers that have more than their share close some, and the clients connect again, most of them elsewhere.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import NamedTuple

from jsctl.base.units import SECOND
from jsctl.errors import JsctlError
from jsctl.monitor.server.reports import parse_span
from jsctl.monitor.server.requests import Filter, Json, ask_server, ping
from jsctl.nats.connection import Connection

_PAGE_SIZE = 1024  #: connections in one answer
KINDS = ("Client", "Leafnode")


class Selection(NamedTuple):
    """The connections to spread; empty means all. server: the name of the only one to close some. idle: ns
    without traffic."""

    server: str = ""
    cluster: str = ""
    idle: int = 0
    account: str = ""
    subject: str = ""
    kinds: Sequence[str] = ("Client",)


class Client(NamedTuple):
    """A connection of a server. idle: ns since it last sent or received something."""

    cid: int
    name: str
    account: str
    idle: int


class Load(NamedTuple):
    """A server's connections, the longest idle first.

    share: how many each server of the cluster should have. surplus: those to close.
    """

    server: str
    id: str
    cluster: str
    clients: Sequence[Client]
    share: int
    surplus: Sequence[Client]


async def plan_balance(connection: Connection, selection: Selection) -> list[Load]:
    """Fetch the connections of all servers in clusters, and decide which to close, except our own."""
    body: Json = {
        "limit": _PAGE_SIZE,
        "auth": True,
        "acc": selection.account,
        "filter_subject": selection.subject,
    }
    body = {key: value for key, value in body.items() if value}
    if selection.subject:
        body["subscriptions"] = True
    servers: dict[str, Json] = {}
    clients: dict[str, list[Client]] = {}
    offset = 0
    while True:
        replies = await ping(
            connection, "CONNZ", {**body, "offset": offset}, server_filter=Filter(cluster=selection.cluster)
        )
        is_full = False
        for reply in replies:
            server, page = reply["server"], (reply.get("data") or {}).get("connections") or []
            is_full = is_full or len(page) >= _PAGE_SIZE
            servers[server["id"]] = server
            server_clients = clients.setdefault(server["id"], [])
            server_clients += [
                _build_client(client)
                for client in page
                if _is_selected(client, server, connection, selection)
            ]
        if not is_full:
            break
        offset += _PAGE_SIZE
    return compute_loads(servers, clients, selection.server)


def compute_loads(
    servers: Mapping[str, Json], clients: Mapping[str, Sequence[Client]], server_name: str
) -> list[Load]:
    """Return the servers by cluster and name, each with its surplus.

    server_name: the only server whose connections may be closed; empty for all.
    """
    clusters: dict[str, list[str]] = {}
    for id, server in servers.items():
        if server.get("cluster"):
            clusters.setdefault(server["cluster"], []).append(id)
    rows = []
    for cluster, members in sorted(clusters.items()):
        share = -(-sum(len(clients[id]) for id in members) // len(members))
        for id in sorted(members, key=lambda id: str(servers[id]["name"])):
            ordered = sorted(clients[id], key=lambda client: (-client.idle, client.cid))
            name = str(servers[id]["name"])
            surplus = ordered[: max(0, len(ordered) - share)] if server_name in ("", name) else []
            rows.append(Load(name, id, cluster, ordered, share, surplus))
    return rows


async def close_surplus(
    connection: Connection, loads: Sequence[Load], duration: int
) -> AsyncIterator[tuple[Load, Client, JsctlError | None]]:
    """Close the surplus connections, spread over `duration` ns, and yield each with its failure, if any.

    A client may have left meanwhile.
    """
    pending = [(load, client) for load in loads for client in load.surplus]
    pause = duration / SECOND / len(pending) if pending else 0
    for number, (load, client) in enumerate(pending, 1):
        failure = None
        try:
            await ask_server(connection, load.id, "KICK", {"cid": client.cid})
        except JsctlError as error:
            failure = error
        yield load, client, failure
        if number < len(pending):
            await asyncio.sleep(pause)


def _is_selected(client: Json, server: Json, connection: Connection, selection: Selection) -> bool:
    info = connection.server_info
    is_own = server["id"] == info.get("server_id") and client["cid"] == info.get("client_id")
    return (
        not is_own
        and client.get("kind", "Client") in selection.kinds
        and (not selection.idle or parse_span(client.get("idle")) > selection.idle)
    )


def _build_client(client: Json) -> Client:
    return Client(
        client["cid"],
        client.get("name", ""),
        client.get("name_tag") or client.get("account", ""),
        parse_span(client.get("idle")),
    )
