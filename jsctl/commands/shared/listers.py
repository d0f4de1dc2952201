"""Lists what arguments and flags name, for completion, where it is not a noun of the registry."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from jsctl.commands.shared.listable import find_path, find_thing

if TYPE_CHECKING:
    from jsctl.auth.records import Record
    from jsctl.env import Env

Json = dict[str, Any]


def find_first_name(ctx: click.Context, thing: str) -> str:
    """Return the first name of a thing that the command line has; empty without one."""
    for param in ctx.command.params:
        if find_thing(find_path(ctx), param) == thing:
            value = ctx.params.get(param.name or "")
            value = value[0] if isinstance(value, (tuple, list)) and value else value
            if isinstance(value, str) and value:
                return value
    return ""


# -- what servers tell ------------------------------------------------------------------------------


async def _servers(env: "Env") -> list[Json]:
    """Return what servers say of themselves; nothing without the system account."""
    from jsctl.errors import Denied
    from jsctl.monitor.server.list_ import fetch_servers

    try:
        return [dict(reply["server"]) for reply, _ in await fetch_servers(await env.connection())]
    except Denied:
        return []


async def _groups(env: "Env") -> list[Json]:
    """Return the `cluster` of the infos of all streams: {"name", "leader", "replicas"}."""
    from jsctl.jetstream.stream import requests as streams

    infos = (await streams.collect(await env.jetstream(), lambda info: info)).items.values()
    return [info["cluster"] for info in infos if info.get("cluster")]


def _members(group: Json) -> set[str]:
    return {str(group.get("leader") or ""), *(one["name"] for one in group.get("replicas") or ())}


async def list_servers(env: "Env", parents: Sequence[str]) -> set[str]:
    """Return the names of servers; without the system account, of those that have streams of the account."""
    names = {str(server.get("name", "")) for server in await _servers(env)}
    return names or set().union(*map(_members, await _groups(env)))


async def list_clusters(env: "Env", parents: Sequence[str]) -> set[str]:
    """Return the names of clusters, as `list_servers`."""
    names = {str(server.get("cluster", "")) for server in await _servers(env)}
    return names or {str(group.get("name") or "") for group in await _groups(env)}


async def list_peers(env: "Env", parents: Sequence[str]) -> set[str]:
    """Return the servers of a stream; without one, of all streams."""
    from jsctl.jetstream.stream import requests as streams

    if not parents[0]:
        return set().union(*map(_members, await _groups(env)))
    info = await streams.fetch_info(await env.jetstream(), parents[0])
    return _members(info.get("cluster") or {})


def _of_servers(key: str) -> Callable[["Env", Sequence[str]], Any]:
    async def list_values(env: "Env", parents: Sequence[str]) -> set[str]:
        values: set[str] = set()
        for server in await _servers(env):
            value = server.get(key) or ""
            values.update(map(str, value) if isinstance(value, list) else [str(value)])
        return values

    return list_values


async def list_domains(env: "Env", parents: Sequence[str]) -> set[str]:
    """Return the JetStream domains of servers; without the system account, that of the account."""
    names = {str(server.get("domain", "")) for server in await _servers(env)}
    if not names:
        names = {str((await (await env.jetstream()).call("INFO")).get("domain") or "")}
    return names


async def list_accounts(env: "Env", parents: Sequence[str]) -> set[str]:
    """Return the accounts that servers know."""
    from jsctl.monitor.server.requests import ping

    replies = await ping(await env.connection(), "ACCOUNTZ")
    return {name for reply in replies for name in reply["data"].get("accounts") or ()}


async def list_instances(env: "Env", parents: Sequence[str]) -> set[str]:
    """Return the IDs of a service's instances."""
    return {str(info["id"]) for info in await _service(env, parents[0])}


async def list_endpoints(env: "Env", parents: Sequence[str]) -> set[str]:
    """Return the names of a service's endpoints."""
    infos = await _service(env, parents[0])
    return {str(endpoint["name"]) for info in infos for endpoint in info.get("endpoints") or ()}


async def _service(env: "Env", name: str) -> list[Json]:
    from jsctl.services.discovery import gather

    return await gather(await env.connection(), "INFO", name, warn=lambda text: None)


async def list_groups(env: "Env", parents: Sequence[str]) -> list[str]:
    """Return the priority groups of a consumer."""
    from jsctl.jetstream.consumer import requests as consumers

    info = await consumers.fetch_info(await env.jetstream(), *parents)
    return list(info["config"].get("priority_groups") or ())


ON_SERVERS: dict[str, tuple[Callable[["Env", Sequence[str]], Any], tuple[str, ...]]] = {
    "server": (list_servers, ()),
    "cluster": (list_clusters, ()),
    "peer": (list_peers, ("stream",)),
    "server id": (_of_servers("id"), ()),
    "server tag": (_of_servers("tags"), ()),
    "host": (_of_servers("host"), ()),
    "domain": (list_domains, ()),
    "account": (list_accounts, ()),
    "instance": (list_instances, ("service",)),
    "endpoint": (list_endpoints, ("service",)),
    "group": (list_groups, ("stream", "consumer")),
}
"""What lists a thing, and the things that it is part of."""


# -- what is on this machine ------------------------------------------------------------------------


def _network_nodes(ctx: click.Context) -> set[str]:
    from jsctl.localserver.networks import find_network

    nodes = find_network(ctx.obj.environ, find_first_name(ctx, "network")).state.nodes
    return {node.name for node in nodes} | {node.cluster for node in nodes}


def _network_clusters(ctx: click.Context) -> set[str]:
    from jsctl.localserver.networks import find_network

    return {
        node.cluster for node in find_network(ctx.obj.environ, find_first_name(ctx, "network")).state.nodes
    }


def _network_links(ctx: click.Context) -> list[str]:
    from jsctl.localserver.networks import find_network

    return list(find_network(ctx.obj.environ, find_first_name(ctx, "network")).state.links)


def _topologies(ctx: click.Context) -> Sequence[str]:
    from jsctl.localserver.spec_reader import BUILTIN

    return ("hub-leaf",) if find_path(ctx) == "server run" else BUILTIN


def _checks(ctx: click.Context) -> list[str]:
    from jsctl.monitor.audit.analysis import CHECKS

    return [check.code for check in CHECKS]


def _parts(ctx: click.Context) -> list[str]:
    from jsctl.localserver.walkthrough import load_walkthrough

    return list(load_walkthrough(str(ctx.command.name)).parts)


def _templates(ctx: click.Context) -> list[str]:
    from jsctl.localserver.templates import TEMPLATES

    return [template.name for template in TEMPLATES]


def _operators(ctx: click.Context) -> list[str]:
    from jsctl.commands.shared.pick_auth import read_choices

    return read_choices(ctx.obj).folders.operators()


def _accounts(ctx: click.Context) -> "list[Record]":
    """Return the accounts that a command line of the store means: the named one, or all."""
    from jsctl.commands.shared.pick_auth import list_stores

    accounts = [account for store in list_stores(ctx) for account in store.read_accounts()]
    named = [one for one in accounts if one.name == ctx.params.get("account")]
    return named or accounts


def _account_names(ctx: click.Context) -> list[str]:
    from jsctl.commands.shared.pick_auth import list_stores

    return [name for store in list_stores(ctx) for name in store.account_names()]


def _user_names(ctx: click.Context) -> set[str]:
    from jsctl.commands.shared.pick_auth import list_stores

    return {
        user
        for store in list_stores(ctx)
        for account in store.account_names()
        if ctx.params.get("account") in (None, "", account)
        for user in store.user_names(account)
    }


def _roles(ctx: click.Context) -> set[str]:
    from jsctl.auth.records import list_signing_keys

    return {key.role or key.public for one in _accounts(ctx) for key in list_signing_keys(one.nats)}


def _operator_keys(ctx: click.Context) -> list[str]:
    from jsctl.commands.shared.pick_auth import list_stores

    return [key for one in list_stores(ctx) for key in one.read_operator().nats.get("signing_keys") or ()]


def _exports(ctx: click.Context) -> set[str]:
    return {str(one["subject"]) for account in _accounts(ctx) for one in account.nats.get("exports") or ()}


def _imports(ctx: click.Context) -> set[str]:
    from jsctl.auth.records import find_local_subject

    imports = [one for account in _accounts(ctx) for one in account.nats.get("imports") or ()]
    return {find_local_subject(one) for one in imports}


def _mappings(ctx: click.Context) -> set[str]:
    from jsctl.auth.mappings import list_mappings

    return {source for account in _accounts(ctx) for source in list_mappings(account.nats)}


HERE: dict[str, Callable[[click.Context], Any]] = {
    "network node": _network_nodes,
    "network cluster": _network_clusters,
    "network link": _network_links,
    "topology": _topologies,
    "check": _checks,
    "part": _parts,
    "template": _templates,
    "operator": _operators,
    "store account": _account_names,
    "store user": _user_names,
    "role": _roles,
    "operator key": _operator_keys,
    "export": _exports,
    "import": _imports,
    "mapping": _mappings,
}
"""What lists a thing that is on this machine."""
