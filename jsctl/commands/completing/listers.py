"""Listers for the completion of arguments and flags that do not name a noun of the registry."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from jsctl.commands.completing.value_kinds import find_path, find_value_kind

if TYPE_CHECKING:
    from jsctl.auth.records import Account
    from jsctl.env import Env
    from jsctl.localserver.state import NetworkState

Json = dict[str, Any]


def find_first_name(ctx: click.Context, kind: str) -> str:
    """Return the first name of a kind (see value_kinds.py) on the command line; empty if there is none."""
    for param in ctx.command.params:
        if find_value_kind(find_path(ctx), param) == kind:
            value = ctx.params.get(param.name or "")
            value = value[0] if isinstance(value, (tuple, list)) and value else value
            if isinstance(value, str) and value:
                return value
    return ""


# -- names from servers ------------------------------------------------------------------------------


async def _fetch_servers(env: "Env") -> list[Json]:
    """Return the `server` object of each server's reply; empty without the system account."""
    from jsctl.errors import Denied
    from jsctl.monitor.server.requests import fetch_servers

    try:
        return [dict(reply["server"]) for reply, _ in await fetch_servers(await env.connection())]
    except Denied:
        return []


async def _fetch_groups(env: "Env") -> list[Json]:
    """Return the `cluster` of the infos of all streams: {"name", "leader", "replicas"}."""
    from jsctl.jetstream.stream import requests as streams

    infos = (await streams.collect(await env.jetstream(), lambda info: info)).items.values()
    return [info["cluster"] for info in infos if info.get("cluster")]


def _list_members(group: Json) -> set[str]:
    return {str(group.get("leader") or ""), *(replica["name"] for replica in group.get("replicas") or ())}


async def list_servers(env: "Env", parents: Sequence[str]) -> set[str]:
    """Return the names of servers; without the system account, of those that have streams of the account."""
    names = {str(server.get("name", "")) for server in await _fetch_servers(env)}
    return names or set().union(*map(_list_members, await _fetch_groups(env)))


async def list_clusters(env: "Env", parents: Sequence[str]) -> set[str]:
    """Return the names of clusters, as `list_servers`."""
    names = {str(server.get("cluster", "")) for server in await _fetch_servers(env)}
    return names or {str(group.get("name") or "") for group in await _fetch_groups(env)}


async def list_peers(env: "Env", parents: Sequence[str]) -> set[str]:
    """Return the servers of a stream; without one, of all streams."""
    from jsctl.jetstream.stream import requests as streams

    if not parents[0]:
        return set().union(*map(_list_members, await _fetch_groups(env)))
    info = await streams.fetch_info(await env.jetstream(), parents[0])
    return _list_members(info.get("cluster") or {})


def _make_server_lister(key: str) -> Callable[["Env", Sequence[str]], Any]:
    async def list_values(env: "Env", parents: Sequence[str]) -> set[str]:
        values: set[str] = set()
        for server in await _fetch_servers(env):
            value = server.get(key) or ""
            values.update(map(str, value) if isinstance(value, list) else [str(value)])
        return values

    return list_values


async def list_domains(env: "Env", parents: Sequence[str]) -> set[str]:
    """Return the JetStream domains of servers; without the system account, that of the account."""
    names = {str(server.get("domain", "")) for server in await _fetch_servers(env)}
    if not names:
        names = {str((await (await env.jetstream()).call("INFO")).get("domain") or "")}
    return names


async def list_accounts(env: "Env", parents: Sequence[str]) -> set[str]:
    """Return the accounts that servers know."""
    from jsctl.monitor.server.requests import ping

    replies = await ping(await env.connection(), "ACCOUNTZ")
    return {name for reply in replies for name in reply["data"].get("accounts") or ()}


async def list_users(env: "Env", parents: Sequence[str]) -> set[str]:
    """Return the users of connections; without the system account, of those of the account."""
    from jsctl.errors import Denied
    from jsctl.monitor.server.requests import ping, ping_account

    connection = await env.connection()
    try:
        replies = await ping(connection, "CONNZ", {"auth": True})
    except Denied:
        replies = await ping_account(connection, "CONNZ", {"auth": True})
    lists = (reply["data"].get("connections") or () for reply in replies)
    return {str(client.get("authorized_user") or "") for clients in lists for client in clients}


async def list_raft_groups(env: "Env", parents: Sequence[str]) -> set[str]:
    """Return the Raft groups of streams; without the system account, of those of the account."""
    from jsctl.errors import Denied
    from jsctl.monitor.server.requests import ping

    body = {"accounts": True, "streams": True, "raft": True}
    try:
        replies = await ping(await env.connection(), "JSZ", body)
    except Denied:
        return {str(group.get("raft_group") or "") for group in await _fetch_groups(env)}
    accounts = (account for reply in replies for account in reply["data"].get("account_details") or ())
    streams = (stream for account in accounts for stream in account.get("stream_detail") or ())
    return {"_meta_", *(str(stream.get("stream_raft_group") or "") for stream in streams)}


async def list_instances(env: "Env", parents: Sequence[str]) -> set[str]:
    """Return the IDs of a service's instances."""
    return {str(info["id"]) for info in await _fetch_service_infos(env, parents[0])}


async def list_endpoints(env: "Env", parents: Sequence[str]) -> set[str]:
    """Return the names of a service's endpoints."""
    infos = await _fetch_service_infos(env, parents[0])
    return {str(endpoint["name"]) for info in infos for endpoint in info.get("endpoints") or ()}


async def _fetch_service_infos(env: "Env", name: str) -> list[Json]:
    from jsctl.services.discovery import gather

    return await gather(await env.connection(), "INFO", name, warn=lambda text: None)


async def list_groups(env: "Env", parents: Sequence[str]) -> list[str]:
    """Return the priority groups of a consumer."""
    from jsctl.jetstream.consumer import requests as consumers

    info = await consumers.fetch_info(await env.jetstream(), *parents)
    return list(info["config"].get("priority_groups") or ())


async def list_group_members(env: "Env", parents: Sequence[str]) -> list[str]:
    """Return the members of a partitioned consumer group."""
    from jsctl.jetstream.partitioned_groups import fetch_group

    return (await fetch_group(await env.jetstream(), parents[0], parents[1])).members


SERVER_LISTERS: dict[str, tuple[Callable[["Env", Sequence[str]], Any], tuple[str, ...]]] = {
    "server": (list_servers, ()),
    "cluster": (list_clusters, ()),
    "peer": (list_peers, ("stream",)),
    "server id": (_make_server_lister("id"), ()),
    "server tag": (_make_server_lister("tags"), ()),
    "host": (_make_server_lister("host"), ()),
    "domain": (list_domains, ()),
    "account": (list_accounts, ()),
    "connection user": (list_users, ()),
    "raft group": (list_raft_groups, ()),
    "instance": (list_instances, ("service",)),
    "endpoint": (list_endpoints, ("service",)),
    "group": (list_groups, ("stream", "consumer")),
    "member": (list_group_members, ("stream", "pcgroup")),
}
"""The lister of each kind, and the kinds that contain it."""


# -- names on this machine ------------------------------------------------------------------------


def _load_network(ctx: click.Context) -> "NetworkState":
    from jsctl.localserver.networks import find_network

    return find_network(ctx.obj.environ, find_first_name(ctx, "network")).state


def _list_network_nodes(ctx: click.Context) -> set[str]:
    return {name for node in _load_network(ctx).nodes for name in (node.name, node.cluster)}


def _list_network_clusters(ctx: click.Context) -> set[str]:
    return {node.cluster for node in _load_network(ctx).nodes}


def _list_network_links(ctx: click.Context) -> list[str]:
    return list(_load_network(ctx).links)


def _list_topologies(ctx: click.Context) -> Sequence[str]:
    from jsctl.localserver.spec_reader import BUILTIN

    return ("hub-leaf",) if find_path(ctx) == "server run" else BUILTIN


def _list_checks(ctx: click.Context) -> list[str]:
    from jsctl.monitor.audit.analysis import CHECKS

    return [check.code for check in CHECKS]


def _list_codecs(ctx: click.Context) -> list[str]:
    from jsctl.jetstream.kv.codec import CODECS, PATH

    return [*CODECS, *(f"{PATH},{name}" for name in CODECS if name != PATH)]


def _list_parts(ctx: click.Context) -> list[str]:
    from jsctl.localserver.walkthrough import load_walkthrough

    return list(load_walkthrough(str(ctx.command.name)).parts)


def _list_templates(ctx: click.Context) -> list[str]:
    from jsctl.localserver.templates import TEMPLATES

    return [template.name for template in TEMPLATES]


def _list_operators(ctx: click.Context) -> list[str]:
    from jsctl.commands.picking.auth import read_choices

    return read_choices(ctx.obj).folders.list_operators()


def _read_accounts(ctx: click.Context) -> "list[Account]":
    """Return the accounts that a command line of the store means: the named one, or all."""
    from jsctl.commands.picking.auth import list_stores

    accounts = [account for store in list_stores(ctx) for account in store.load_accounts()]
    named = [candidate for candidate in accounts if candidate.name == ctx.params.get("account")]
    return named or accounts


def _list_account_names(ctx: click.Context) -> list[str]:
    from jsctl.commands.picking.auth import list_stores

    return [name for store in list_stores(ctx) for name in store.list_account_names()]


def _list_user_names(ctx: click.Context) -> set[str]:
    from jsctl.commands.picking.auth import list_stores

    return {
        user
        for store in list_stores(ctx)
        for account in store.list_account_names()
        if ctx.params.get("account") in (None, "", account)
        for user in store.list_user_names(account)
    }


def _list_roles(ctx: click.Context) -> set[str]:
    from jsctl.auth.records import list_signing_keys

    return {
        key.role or key.public for account in _read_accounts(ctx) for key in list_signing_keys(account.nats)
    }


def _list_operator_keys(ctx: click.Context) -> list[str]:
    from jsctl.commands.picking.auth import list_stores

    return [key for store in list_stores(ctx) for key in store.load_operator().nats.get("signing_keys") or ()]


def _list_exports(ctx: click.Context) -> set[str]:
    return {
        str(export["subject"])
        for account in _read_accounts(ctx)
        for export in account.nats.get("exports") or ()
    }


def _list_imports(ctx: click.Context) -> set[str]:
    from jsctl.auth.claims import find_local_subject

    imports = [claim for account in _read_accounts(ctx) for claim in account.nats.get("imports") or ()]
    return {find_local_subject(claim) for claim in imports}


def _list_mappings(ctx: click.Context) -> set[str]:
    from jsctl.auth.mappings import list_mappings

    return {source for account in _read_accounts(ctx) for source in list_mappings(account.nats)}


LOCAL_LISTERS: dict[str, Callable[[click.Context], Any]] = {
    "network node": _list_network_nodes,
    "network cluster": _list_network_clusters,
    "network link": _list_network_links,
    "topology": _list_topologies,
    "check": _list_checks,
    "part": _list_parts,
    "codec": _list_codecs,
    "template": _list_templates,
    "operator": _list_operators,
    "store account": _list_account_names,
    "store user": _list_user_names,
    "role": _list_roles,
    "operator key": _list_operator_keys,
    "export": _list_exports,
    "import": _list_imports,
    "mapping": _list_mappings,
}
"""The lister of each kind whose names are on this machine."""
