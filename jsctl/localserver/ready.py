"""Whether a network is ready: its servers are healthy, its links are up, messages pass between all servers,
and every mirror, source and replica is as far as its origin was when the question was asked.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

from jsctl.base.command_lines import build_line
from jsctl.base.units import join_some, pluralize
from jsctl.contexts.settings import Settings
from jsctl.errors import Denied, JsctlError
from jsctl.jetstream.api import Api
from jsctl.jetstream.message.copies import Copies
from jsctl.jetstream.stream import requests as streams
from jsctl.localserver.network import open_private_store
from jsctl.localserver.networks import LocalNetwork
from jsctl.localserver.readiness import STREAMS, find_unhealthy, read_context_settings
from jsctl.localserver.state import LoginState, NodeState
from jsctl.localserver.status import list_system_logins
from jsctl.monitor.server.requests import ping
from jsctl.nats.connection import Connection
from jsctl.nats.message import Message

READY_SECONDS = 180.0
"""How long a network may take to be ready after its servers accept clients. After a long outage a server may
need 150 s until it asks for a mirror's origin again (see `copies`)."""

_LOGIN_SECONDS = 20
_REPORT_SECONDS = 3.0
_PAUSE_SECONDS = 0.1
_JOIN_SECONDS = 5
_JOIN_INTERVAL_SECONDS = 0.05


class Question:
    """What a network must have reached to be ready, as it was when this was asked first."""

    def __init__(self) -> None:
        self.copies: dict[str, Copies] = defaultdict(Copies)  #: by user
        self.replicas: dict[tuple[str, str, str], int] = {}

    def is_undecided(self, sentences: Iterable[str]) -> bool:
        """Return whether a few seconds may disprove all sentences."""
        return all(
            any(sentence in copies.undecided for copies in self.copies.values()) for sentence in sentences
        )


async def wait_until_ready(
    network: LocalNetwork, report: Callable[[str], None], seconds: float = READY_SECONDS
) -> None:
    """Wait until a network is ready: see `find_unready`. report: called every few seconds with what is
    missing.

    Raises JsctlError when it is not ready after `seconds`.
    """
    question = Question()
    sentences: list[str] = []
    started_at = reported_at = time.monotonic()
    while (now := time.monotonic()) < started_at + seconds or not sentences:
        sentences = await find_unready(network, question)
        if not sentences:
            return
        if now > reported_at + _REPORT_SECONDS:
            reported_at = now
            report(f"waiting: {sentences[0]}")
        await asyncio.sleep(_PAUSE_SECONDS)
    raise JsctlError(
        f"network {network.state.name} is not ready after {seconds:g}s: {join_some(sentences, 1)}",
        f"see {build_line('server network status', network.state.name)}",
    )


async def find_missing(network: LocalNetwork) -> list[str]:
    """Return what `wait_until_ready` would wait for; what no answer shows is watched for some seconds."""
    question = Question()
    while True:
        sentences = await find_unready(network, question)
        if not sentences or not question.is_undecided(sentences):
            return sentences
        await asyncio.sleep(_PAUSE_SECONDS)


async def find_unready(network: LocalNetwork, question: Question) -> list[str]:
    """Return sentences about what is not ready. What was stopped on purpose is not waited for.

    question: what was asked before.
    """
    sentences = [
        f"server {node.name} is not running"
        for node in network.state.nodes
        if network.get_status(node) == "ended"
    ]
    for name, link in network.state.links.items():
        if link.get("down"):
            sentences.append(f"link {name} is down")
        elif link.get("drop"):
            sentences.append(f"nothing passes link {name}")
        elif link.get("without"):
            sentences.append(f"link {name} is down for {', '.join(link['without'])}")
    up = [node for node in network.state.nodes if network.get_status(node) == "up"]
    store = open_private_store(network.folder)
    users: set[str] = set()
    for login in network.state.logins:
        if sentences:
            break
        raw = store.load(login.context).raw
        if not _has_server(network, str(raw.get("url", "")), up):
            continue  # all its servers were stopped on purpose
        try:
            async with asyncio.timeout(_LOGIN_SECONDS):
                sentences = await _find_unready(network, raw, login, up, question, users)
        except (TimeoutError, JsctlError) as error:
            sentences = [f"context {login.context}: {error or 'no answer in time'}"]
    return sentences or await _find_replicas_behind(network, question)


def _has_server(network: LocalNetwork, urls: str, up: Sequence[NodeState]) -> bool:
    """Return whether one of the URLs leads to one of the servers, directly or through the relay."""
    hops = {str(at): str(to) for link in network.state.links.values() for at, to in link["hops"].items()}
    ports = [url.rpartition(":")[2] for url in urls.split(",")]
    running = {node.url.rpartition(":")[2] for node in up}
    return any(hops.get(port, port) in running for port in ports)


async def _find_unready(
    network: LocalNetwork,
    raw: Mapping[str, Any],
    login: LoginState,
    up: Sequence[NodeState],
    question: Question,
    users: set[str],
) -> list[str]:
    """Return what is not ready for a login. users: whose messages were tried before; this one is added."""
    user = str(raw.get("creds") or raw.get("user") or "")
    members = [node for node in up if node.cluster in login.clusters and node.url]
    parts = _split(network, members)
    if user not in users:
        users.add(user)
        for part in parts:
            servers = {node.name: read_context_settings({**raw, "url": node.url}) for node in part}
            if unjoined := await find_unjoined(servers):
                return [
                    f"messages of user {user or '(none)'} do not pass from {source} to {target} yet"
                    for source, target in unjoined
                ]
    connection = await Connection.open(read_context_settings(raw))
    try:
        all_up = len(up) == len(network.state.nodes)
        if login.servers and all_up:
            return await find_unhealthy(connection, min(login.servers, len(up)))
        # While clusters are stopped on purpose, others may be cut off; only the first domain must reply.
        domains = login.domains if len(parts) < 2 else login.domains[:1]
        running = {node.domain for node in up}
        away = frozenset(node.domain for node in network.state.nodes) - running
        apis = {domain: Api(connection, domain=domain) for domain in domains if domain not in away}
        infos = {
            (domain, str(info["config"]["name"])): info
            for domain, api in apis.items()
            async for page in streams.list_info_pages(api)
            for info in page
        }
        return await question.copies[user].find_behind(infos, apis, away)
    finally:
        await connection.close()


def _split(network: LocalNetwork, members: Sequence[NodeState]) -> list[list[NodeState]]:
    """Return the servers between which messages must pass: all, or while a whole cluster is stopped, which
    may have joined the others, those of each cluster."""
    clusters = {node.cluster for node in network.state.nodes}
    if not clusters - {node.cluster for node in network.state.nodes if network.get_status(node) == "up"}:
        return [list(members)]
    return [[node for node in members if node.cluster == cluster] for cluster in sorted(clusters)]


async def _find_replicas_behind(network: LocalNetwork, question: Question) -> list[str]:
    """Return sentences about followers that do not have what their leader had when this was asked first."""
    sentences = []
    targets = question.replicas
    for settings in list_system_logins(network):
        try:
            connection = await Connection.open(settings)
        except JsctlError as error:
            return [str(error)]
        try:
            replies = await ping(connection, "JSZ", STREAMS)
        finally:
            await connection.close()
        followers: dict[tuple[str, str, str], list[tuple[str, int]]] = defaultdict(list)
        for reply in replies:
            server = reply["server"]
            for account in (reply.get("data") or {}).get("account_details") or ():
                for stream in account.get("stream_detail") or ():
                    key = server.get("domain", ""), str(account.get("name", "")), str(stream["name"])
                    reached = int((stream.get("state") or {}).get("last_seq", 0))
                    if (stream.get("cluster") or {}).get("leader", server["name"]) == server["name"]:
                        targets.setdefault(key, reached)
                    else:
                        followers[key].append((server["name"], reached))
        for key, members in followers.items():
            for name, reached in members:
                if (missing := targets.get(key, 0) - reached) > 0:
                    sentences.append(
                        f"the replica of stream {key[2]} on {name} is {pluralize(missing, 'message')} behind"
                    )
        if sentences:
            break
    return sentences


async def find_unjoined(servers: Mapping[str, Settings]) -> list[tuple[str, str]]:
    """Return pairs of servers of which the second gets no messages from the first one.

    After a leaf node connection or gateway was made again, the servers tell each other what their clients
    subscribe to, in order; until then requests find no responders, and messages are lost. So a subscription
    that is known everywhere shows that all earlier ones are.

    servers: how to connect to each, as the same user. One that may not subscribe to an inbox proves nothing.
    Raises JsctlError.
    """
    async with AsyncExitStack() as stack:
        connections: dict[str, Connection] = {}
        for name, settings in servers.items():
            connections[name] = await Connection.open(settings)
            stack.push_async_callback(connections[name].close)
        missing = {(source, target) for source in servers for target in servers if source != target}
        inboxes: dict[str, str] = {}
        try:
            for target, connection in connections.items():
                inboxes[target] = connection.new_inbox()
                receiver = connection.receive(inboxes[target], partial(_note, missing, target))
                await stack.enter_async_context(receiver)
                await connection.flush()
            deadline = asyncio.get_running_loop().time() + _JOIN_SECONDS
            while missing and asyncio.get_running_loop().time() < deadline:
                for source, target in list(missing):
                    await connections[source].publish(inboxes[target], source.encode())
                await asyncio.sleep(_JOIN_INTERVAL_SECONDS)
        except Denied:
            return []
        return sorted(missing)


def _note(missing: set[tuple[str, str]], target: str, message: Message) -> None:
    missing.discard((message.data.decode(), target))
