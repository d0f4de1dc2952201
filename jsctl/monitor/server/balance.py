"""Spread the connections of clients over the servers of their cluster: servers that have more than their
share close some, and the clients connect again, most of them elsewhere."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, NamedTuple

from jsctl.errors import JsctlError
from jsctl.monitor.server.reports import parse_span
from jsctl.monitor.server.requests import Filter, ask_server, ping
from jsctl.nats.connection import Connection
from jsctl.units import SECOND

Json = dict[str, Any]

_PAGE = 1024  #: connections that a server sends at once
KINDS = ("Client", "Leafnode")


class Selection(NamedTuple):
    """Which connections to spread; empty means all. server: the name of the one to take from. idle: ns."""

    server: str = ""
    cluster: str = ""
    idle: int = 0
    account: str = ""
    subject: str = ""
    kinds: Sequence[str] = ("Client",)


class Client(NamedTuple):
    """A connection of a server."""

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


async def plan(connection: Connection, chosen: Selection) -> list[Load]:
    """Fetch the connections of all servers in clusters, and decide which to close. Never our own."""
    body: Json = {"limit": _PAGE, "auth": True, "acc": chosen.account, "filter_subject": chosen.subject}
    body = {key: value for key, value in body.items() if value}
    if chosen.subject:
        body["subscriptions"] = True
    servers: dict[str, Json] = {}
    clients: dict[str, list[Client]] = {}
    offset = 0
    while True:
        replies = await ping(
            connection, "CONNZ", {**body, "offset": offset}, only=Filter(cluster=chosen.cluster)
        )
        full = False
        for reply in replies:
            about, page = reply["server"], (reply.get("data") or {}).get("connections") or []
            full = full or len(page) >= _PAGE
            servers[about["id"]] = about
            known = clients.setdefault(about["id"], [])
            known += [_client(client) for client in page if _is_wanted(client, about, connection, chosen)]
        if not full:
            break
        offset += _PAGE
    return compute_loads(servers, clients, chosen.server)


def compute_loads(
    servers: Mapping[str, Json], clients: Mapping[str, Sequence[Client]], only: str
) -> list[Load]:
    """Return the servers by cluster and name, with what each has too much. only: the name of the one server
    whose connections may be closed; empty for all."""
    clusters: dict[str, list[str]] = {}
    for id, about in servers.items():
        if about.get("cluster"):
            clusters.setdefault(about["cluster"], []).append(id)
    rows = []
    for cluster, members in sorted(clusters.items()):
        share = -(-sum(len(clients[id]) for id in members) // len(members))
        for id in sorted(members, key=lambda id: str(servers[id]["name"])):
            ordered = sorted(clients[id], key=lambda client: (-client.idle, client.cid))
            name = str(servers[id]["name"])
            surplus = ordered[: max(0, len(ordered) - share)] if only in ("", name) else []
            rows.append(Load(name, id, cluster, ordered, share, surplus))
    return rows


async def close_surplus(
    connection: Connection, loads: Sequence[Load], duration: int
) -> AsyncIterator[tuple[Load, Client, JsctlError | None]]:
    """Close the connections that servers have too much, spread over `duration` ns, and yield each with its
    failure, if any: a client may have left meanwhile."""
    todo = [(load, client) for load in loads for client in load.surplus]
    pause = duration / SECOND / len(todo) if todo else 0
    for number, (load, client) in enumerate(todo, 1):
        failure = None
        try:
            await ask_server(connection, load.id, "KICK", {"cid": client.cid})
        except JsctlError as error:
            failure = error
        yield load, client, failure
        if number < len(todo):
            await asyncio.sleep(pause)


def _is_wanted(client: Json, about: Json, connection: Connection, chosen: Selection) -> bool:
    info = connection.server_info
    ours = about["id"] == info.get("server_id") and client["cid"] == info.get("client_id")
    return (
        not ours
        and client.get("kind", "Client") in chosen.kinds
        and (not chosen.idle or parse_span(client.get("idle")) > chosen.idle)
    )


def _client(client: Json) -> Client:
    return Client(
        client["cid"],
        client.get("name", ""),
        client.get("name_tag") or client.get("account", ""),
        parse_span(client.get("idle")),
    )
