"""Which JetStream a connection reaches: the servers that have it, the account there, the domain.

An address, a context and a connection only lead to a JetStream: two of them may lead to the same one, as the
context of a leaf node does, and that of its hub with the leaf node's domain. Everything that compares places
compares these identities.

A server's ID is new at each start (nats-server: server.go), the name of a cluster may be that of another
network, and an account has other names on both sides of a leaf node connection. So the servers of the account
are asked ($SYS.REQ.ACCOUNT.PING.STATZ, which any login may send): each says its ID, its cluster, its domain,
and the account's name there (events.go: registerSystemImports, accountStatz; tried on 2.15).
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from jsctl.base.json_text import parse_json
from jsctl.base.loops import gather
from jsctl.errors import JsctlError
from jsctl.jetstream.api import Api, Json, build_api_prefix
from jsctl.jetstream.api_levels import fetch_account_info
from jsctl.nats.connection import Connection
from jsctl.nats.replies import request_many

_PING = "$SYS.REQ.ACCOUNT.PING.STATZ"


_COMPARED = ("servers", "account", "domain", "prefix")


class Identity(NamedTuple):
    """Which JetStream an API reaches.

    servers: the IDs of those that have it, and where they cannot be asked the name of the cluster; empty if
    nothing is known of them. account: its name, or its key, on these servers; empty if it is unknown.
    prefix: an API prefix of its own, which hides domain and account. server: the name of the only server;
    empty for several. cluster: that of all servers.
    """

    servers: frozenset[str]
    account: str
    domain: str
    prefix: str = ""
    server: str = ""
    cluster: str = ""

    def is_same(self, other: "Identity") -> bool:
        """Return whether both are the same JetStream. What is unknown of one contradicts nothing: in a
        network, a domain has one JetStream."""
        return (
            (self.domain, self.prefix) == (other.domain, other.prefix)
            and (not (self.servers and other.servers) or bool(self.servers & other.servers))
            and (not (self.account and other.account) or self.account == other.account)
        )

    def to_json(self) -> Json:
        """Return what `is_same` compares as JSON."""
        return {**dict(zip(_COMPARED, self, strict=False)), "servers": sorted(self.servers)}


def read_identity(data: Mapping[str, object]) -> Identity:
    """Return an identity from `to_json`. Raises KeyError, TypeError."""
    servers, *texts = (data[key] for key in _COMPARED)
    if not isinstance(servers, list):
        raise TypeError(servers)
    return Identity(frozenset(map(str, servers)), *map(str, texts))


async def find_first_places(apis: Sequence[Api]) -> list[int]:
    """Return for each API the position of the first one that reaches the same JetStream. Servers are asked
    only where two connections lead to domains of the same name. Raises what connecting raises."""
    names = await gather(map(_find_name, apis))
    connections: dict[tuple[str, str], set[int]] = {}
    for api, name in zip(apis, names, strict=True):
        connections.setdefault(name, set()).add(id(api.connection))

    async def identify(api: Api, name: tuple[str, str]) -> Identity:
        is_unique = len(connections[name]) == 1
        return Identity(frozenset(), "", *name) if is_unique else await fetch_identity(api)

    found = await gather(map(identify, apis, names))
    return [next(n for n, other in enumerate(found) if other.is_same(identity)) for identity in found]


async def are_same(apis: Sequence[Api]) -> bool:
    """Return whether all APIs reach the same JetStream. Raises what connecting raises."""
    return not any(await find_first_places(apis))


async def fetch_identity(api: Api, *, ask: bool = True) -> Identity:
    """Return which JetStream an API reaches. Takes a quarter of a second where servers must be asked: in a
    cluster, and for another domain. ask: False if what is known without that will do. Raises what connecting
    raises."""
    info = api.connection.server_info
    own_servers = {str(info.get("server_id") or "")}
    account, cluster = str(info.get("remote_account") or ""), str(info.get("cluster") or "")
    domain, prefix = await _find_name(api)
    if prefix:
        return Identity(frozenset({*own_servers, cluster} - {""}), account, "", prefix)
    is_own = bool(info.get("jetstream")) and domain == str(info.get("domain") or "")
    if is_own and account and not cluster:
        return Identity(frozenset(own_servers), account, domain, server=str(info.get("server_name") or ""))
    replies = await _ask_servers(api.connection) if ask else []
    having = [reply for reply in replies if reply.domain == domain and reply.has_jetstream]
    if is_own and not domain and _may_be_apart(replies, having):
        having = [reply for reply in having if reply.cluster == cluster]
    if not having:
        known = frozenset({*own_servers, cluster} - {""}) if is_own else frozenset[str]()
        return Identity(known, account if is_own else "", domain)
    name, server, cluster = (
        _get_only(getattr(reply, key) for reply in having) for key in ("account", "name", "cluster")
    )
    servers = frozenset(reply.server for reply in having)
    return Identity(servers, (account if is_own else "") or name, domain, server=server, cluster=cluster)


def _get_only(values: Iterable[str]) -> str:
    """Return the value that all have; empty if they differ."""
    first, *others = {*values}
    return "" if others else first


async def _find_name(api: Api) -> tuple[str, str]:
    """Return the domain of an API, or the prefix that hides it."""
    info = api.connection.server_info
    domain = api.prefix.removeprefix("$JS.").removesuffix(".API")
    if api.prefix != build_api_prefix():
        return (domain, "") if api.prefix == build_api_prefix(domain) else ("", api.prefix)
    if info.get("jetstream"):
        return str(info.get("domain") or ""), ""
    # A server without JetStream of its own may lead to that of its hub.
    return str((await fetch_account_info(api)).get("domain") or ""), ""


class _Reply(NamedTuple):
    """What a server says of the account of the login. links: its leaf node connections."""

    server: str
    name: str
    cluster: str
    domain: str
    has_jetstream: bool
    account: str
    links: int


async def _ask_servers(connection: Connection) -> list[_Reply]:
    """Return what all servers say that the account reaches; nothing if the login may not ask them."""
    body = json.dumps({"include_unused": True}).encode()
    try:
        messages = await request_many(connection, _PING, body)
    except JsctlError:
        return []
    return [reply for message in messages for reply in _read(message.data)]


def _read(data: bytes) -> Iterator[_Reply]:
    """Yield what a server says; nothing if it refuses."""
    try:
        reply = parse_json(data)
        server, accounts = reply["server"], reply["data"]["account_statz"]
        yield _Reply(
            str(server["id"]),
            str(server.get("name") or ""),
            str(server.get("cluster") or ""),
            str(server.get("domain") or ""),
            bool(server.get("jetstream")),
            str(accounts[0]["acc"]) if len(accounts) == 1 else "",  # the system account gets all
            sum(int(account.get("leafnodes") or 0) for account in accounts),
        )
    except (ValueError, LookupError, TypeError, AttributeError):
        return


def _may_be_apart(replies: Sequence[_Reply], having: Sequence[_Reply]) -> bool:
    """Return whether a leaf node connection may be between servers without a domain, each side of which has a
    JetStream of its own then (leafnode.go: addJSClusterDomainDeny); clusters that gateways connect share one.
    Each connection has an end at two servers; those to servers with a domain are none between these."""
    ends = sum(reply.links for reply in having)
    return ends > sum(reply.links for reply in replies) - ends
