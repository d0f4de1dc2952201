"""The snapshot of a network: one connection for each login, all requests at the same time.

Nothing is changed on a server. Whether anybody answers to CONSUMER.CREATE, the only request that a mirror
across accounts may make, is tested with an empty request, which every server refuses.
"""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from jsctl.base.units import SECOND
from jsctl.contexts.model import strip_login
from jsctl.contexts.settings import Settings
from jsctl.errors import Denied, JsctlError, NoJetStream, NoResponders, RequestTimeout
from jsctl.jetstream.api import Api, build_api_prefix
from jsctl.jetstream.config.origins import api_to_domain
from jsctl.jetstream.identity import find_first_places
from jsctl.monitor.account import fetch_user
from jsctl.monitor.doctor import domains, imports
from jsctl.monitor.doctor.imports import trace_imports
from jsctl.monitor.doctor.servers import (
    fetch_reachable_servers,
    fetch_system_servers,
    find_silence,
    merge_servers,
)
from jsctl.monitor.doctor.snapshot import (
    ContextView,
    DomainView,
    Import,
    Json,
    Origin,
    ServerView,
    Snapshot,
    choose_login,
    is_complete,
    list_links,
    take_from_leaders,
)
from jsctl.monitor.rules.links import build_create_subject
from jsctl.monitor.trouble import Gap
from jsctl.nats.connection import Connection
from jsctl.nats.login import find_expiry


def build_domain_views(
    servers: Sequence[ServerView], contexts: Sequence[ContextView], seen: Collection[DomainView]
) -> list[DomainView]:
    """Return each account's JetStream in each domain that no context covers.

    contexts: those that were asked. seen: what they showed.
    """
    networks = {server.id: server.network for server in servers}
    systems = {networks.get(context.server): context.name for context in contexts[::-1] if context.is_system}
    taken = {context.name for context in contexts}
    covered = {(view.network, view.account, view.domain) for view in seen}
    groups: dict[tuple[str, str, str, str], list[tuple[ServerView, Json]]] = defaultdict(list)
    for server in servers:
        for account, detail in server.held.items():
            if (server.network, account, server.domain) not in covered:
                # Without a domain, each cluster is a JetStream of its own.
                cluster = "" if server.domain else server.cluster or server.id
                groups[server.network, account, server.domain, cluster].append((server, detail))
    views = [
        _build_view(systems.get(network, ""), account, domain, details)._replace(network=network)
        for (network, account, domain, _), details in groups.items()
    ]
    views = [view._replace(login=choose_login(view.account_name, taken)) for view in views]
    return [view._replace(origins=_find_origins(view, [*views, *seen], servers)) for view in views]


def _build_view(
    context: str, account: str, domain: str, details: Sequence[tuple[ServerView, Json]]
) -> DomainView:
    streams: dict[str, Json] = {}
    consumers: list[Json] = []
    for server, detail in details:
        for info in detail.get("stream_detail") or ():
            if not all(isinstance(info.get(key), dict) for key in ("config", "state")) or "name" not in info:
                continue
            leader = (info.get("cluster") or {}).get("leader")
            # Each server with a replica describes the stream; the leader knows most about it.
            if leader == server.name or info["name"] not in streams:
                streams[info["name"]] = info
                consumers = [consumer for consumer in consumers if consumer["stream_name"] != info["name"]]
                consumers += [
                    consumer for consumer in info.get("consumer_detail") or () if "stream_name" in consumer
                ]
    described = (
        (server.name, info) for server, detail in details for info in detail.get("stream_detail") or ()
    )
    consumers = take_from_leaders(consumers, described)
    name = next((str(detail.get("name")) for _, detail in details if detail.get("name")), account)
    return DomainView(
        context,
        account,
        name,
        domain,
        build_api_prefix(domain),
        streams=streams,
        consumers=[consumer for consumer in consumers if isinstance(consumer.get("config"), dict)],
        is_page=True,
    )


def _find_origins(
    view: DomainView, views: Sequence[DomainView], servers: Sequence[ServerView]
) -> Mapping[tuple[str, str], Origin]:
    """Return what is known of origins in the same account; nothing is known of other accounts."""
    origins: dict[tuple[str, str], Origin] = {}
    for link in list_links(view):
        candidates = [
            other
            for other in views
            if other.account == view.account and link.api in ("", build_api_prefix(other.domain))
            if link.api or other.domain == view.domain
        ]
        if candidates:
            info = next(
                (other.streams[link.name] for other in candidates if link.name in other.streams), None
            )
            is_incomplete = any(
                other.silent or other.error or (other.is_page and not is_complete(servers, other.domain))
                for other in candidates
            )
            is_missing = info is None and not is_incomplete
            origins[link.api, link.name] = Origin(None, info or {}, is_missing)
        elif (domain := api_to_domain(link.api)) and domain not in {server.domain for server in servers}:
            request = f"{link.api}.{build_create_subject(link.config)}"
            if not trace_imports(servers, view.account, request, view.domain):
                origins[link.api, link.name] = Origin(False)
    return origins


Trace = Callable[[str, str], None]

_MALFORMED = (AttributeError, KeyError, IndexError, TypeError, ValueError)
"""What answers of an unexpected shape lead to. The shape of JetStream's answers is checked elsewhere, that of
servers to the system account is not."""

_TIMEOUT_FACTOR = 4  #: all requests through a context may take this many times the timeout of one


class _Login(NamedTuple):
    """A login: its connection, or the reason for having none. places: settings of the requested domains."""

    view: ContextView
    places: Sequence[Settings]
    connection: Connection | None = None
    servers: Sequence[ServerView] = ()


async def take_snapshot(targets: Sequence[Settings], *, trace: Trace | None = None) -> Snapshot:
    """Inspect the network through these contexts and domains.

    A failure of one of them is recorded in the snapshot and raises nothing.
    """
    async with contextlib.AsyncExitStack() as stack:
        logins = await asyncio.gather(*(_log_in(places, stack) for places in _group_by_login(targets)))
        names = [login.view.account for login in logins]
        systems = await asyncio.gather(*(_ask_system(login, names) for login in logins))
        found = [[*views, *login.servers] for (views, _), login in zip(systems, logins, strict=True)]
        networks = _find_networks(
            {login.view.server, *(server.id for server in views)}
            for login, views in zip(logins, found, strict=True)
        )
        servers = [server._replace(network=networks[server.id]) for server in merge_servers(found)]
        gaps = [gap for _, some in systems for gap in some]
        gaps += [
            Gap("accounts", f"{login.view.name}: the server did not say of which account it is")
            for login in logins
            if login.connection is not None and not login.view.account
        ]
        if not any(login.view.is_system for login in logins):
            gaps += {gap.why: gap for login in logins for gap in find_silence(login.servers)}.values()
        reached = await asyncio.gather(*(_try_domains(login, servers) for login in logins))
        logins = [
            login._replace(view=login.view._replace(reaches=some))
            for login, some in zip(logins, reached, strict=True)
        ]
        all_places = await _list_places(logins, networks)
        views, tried, answers = await asyncio.gather(
            asyncio.gather(*(_inspect_place(place, trace) for place in all_places)),
            asyncio.gather(*(_try_imports(login, servers) for login in logins)),
            _count_answers(logins, servers),
        )
        contexts = [login.view._replace(tried=some) for login, some in zip(logins, tried, strict=True)]
        gaps += [gap for _, some in views for gap in some]
        domain_views = [view for view, _ in views if view is not None]
        try:
            domain_views += build_domain_views(servers, contexts, domain_views)
        except _MALFORMED as error:
            gaps.append(Gap("streams", f"streams of other accounts: an answer is malformed: {error!r}"))
        return Snapshot(datetime.now(UTC), contexts, domain_views, servers, gaps, answers)


def _group_by_login(targets: Sequence[Settings]) -> list[list[Settings]]:
    """Return the targets in groups that can share a connection."""
    groups: dict[Settings, list[Settings]] = {}
    for target in targets:
        groups.setdefault(target._replace(js_domain="", js_api_prefix=""), []).append(target)
    return list(groups.values())


async def _log_in(places: Sequence[Settings], stack: contextlib.AsyncExitStack) -> _Login:
    settings = places[0]
    name = settings.context or strip_login(settings.url)
    try:
        connection = await Connection.open(settings, reconnect=False, on_event=lambda _: None)
    except JsctlError as error:
        view = ContextView(name, error, login=settings.place)
        return _Login(view._replace(expires=find_expiry(settings)), places)
    stack.push_async_callback(connection.close)
    user, servers = await asyncio.gather(fetch_user(connection), fetch_reachable_servers(connection))
    view = ContextView(
        name,
        account=str(user.get("account") or ""),
        account_name=str(user.get("account_name") or user.get("account") or ""),
        is_system=bool(user.get("system")),
        server=str(connection.server_info.get("server_id") or ""),
        domain=str(connection.server_info.get("domain") or ""),
        login=settings._replace(js_domain="", js_api_prefix="").place,
        expires=find_expiry(settings),
    )
    return _Login(view, places, connection, [] if view.is_system else servers)


async def _ask_system(login: _Login, accounts: Sequence[str]) -> tuple[Sequence[ServerView], Sequence[Gap]]:
    if login.connection is None or not login.view.is_system:
        return (), ()
    try:
        async with _limit_time(login.connection):
            return await fetch_system_servers(login.connection, accounts)
    except _MALFORMED as error:
        return (), [Gap("servers", f"{login.view.name}: a server's answer is malformed: {error!r}")]
    except (JsctlError, TimeoutError) as error:
        reason = error.message if isinstance(error, JsctlError) else "no answer in time"
        return (), [Gap("servers", f"{login.view.name}: the servers could not be asked: {reason}")]


class _Place(NamedTuple):
    """A domain to inspect. is_own: the domain of the context, or without one that of its server."""

    login: _Login
    domain: str
    prefix: str
    is_own: bool
    is_named: bool
    network: str


async def _list_places(logins: Sequence[_Login], networks: Mapping[str, str]) -> list[_Place]:
    """Return each JetStream once: those of the contexts, and those that their accounts reach."""
    places: list[_Place] = []
    usable = [login for login in logins if login.connection is not None and not login.view.is_system]
    for login in usable:
        for settings in login.places:
            named = bool(settings.js_domain or settings.js_api_prefix)
            where = settings.js_domain, settings.js_api_prefix
            places.append(_Place(login, *where, not named, named, networks[login.view.server]))
    for login in usable:
        places += [
            _Place(login, domain, "", False, False, networks[login.view.server])
            for domain in sorted(login.view.reaches)
        ]
    firsts = await find_first_places(
        [
            Api(place.login.connection, domain=place.domain, prefix=place.prefix)
            for place in places
            if place.login.connection is not None
        ]
    )
    return [place for number, place in enumerate(places) if firsts[number] == number]


def _find_networks(reached: Iterable[set[str]]) -> dict[str, str]:
    """Return, for the ID of each server, a value that all servers of one network share: logins that reach a
    server in common are of one network.

    reached: for each login, the IDs of the servers that answer to it.
    """
    groups: list[set[str]] = []
    for ids in reached:
        joined = [group for group in groups if group & ids]
        groups = [group for group in groups if group not in joined]
        groups.append(ids.union(*joined))
    return {server: min(group) for group in groups for server in group}


async def _inspect_place(place: _Place, trace: Trace | None) -> tuple[DomainView | None, Sequence[Gap]]:
    login, connection = place.login, place.login.connection
    if connection is None:
        return None, ()
    api = Api(connection, domain=place.domain, prefix=place.prefix, trace=trace)
    domain = place.domain or ("" if place.prefix else login.view.domain)
    empty_view = DomainView(
        login.view.name,
        login.view.account,
        login.view.account_name,
        domain,
        build_api_prefix(place.domain, place.prefix),
        place.network,
        login=login.view.login,
    )
    try:
        async with _limit_time(connection):
            return await domains.inspect_domain(api, empty_view)
    except (NoResponders, NoJetStream) as error:
        if place.is_named:
            return empty_view._replace(error=error), ()
        return None, [
            Gap("streams", f"{login.view.name}: its account has no JetStream")
        ] if place.is_own else ()
    except Denied as error:
        if place.is_own or place.is_named:
            return empty_view._replace(error=error), ()
        return None, [Gap("streams", f"{empty_view.where}: {login.view.name} may not ask there")]
    except JsctlError as error:
        return empty_view._replace(error=error), ()
    except TimeoutError:
        return empty_view._replace(
            error=RequestTimeout(f"JetStream on {api.prefix} did not answer all requests in time")
        ), ()


async def _try_domains(login: _Login, servers: Sequence[ServerView]) -> frozenset[str]:
    """Ask in each domain whether anybody answers.

    The list of servers may come from the system account; the account of the login may not reach all of them.
    """
    connection = login.connection
    if connection is None or login.view.is_system:
        return frozenset()
    names = sorted({server.domain for server in servers if server.jetstream and server.domain})
    answers = await asyncio.gather(*(domains.is_answered(connection, name) for name in names))
    return frozenset(name for name, is_there in zip(names, answers, strict=True) if is_there)


async def _count_answers(logins: Sequence[_Login], servers: Sequence[ServerView]) -> dict[str, int]:
    """Count the answers in each domain that servers of several clusters have."""
    clusters: dict[str, set[str]] = {}
    for server in servers:
        if server.domain and server.jetstream:
            clusters.setdefault(server.domain, set()).add(server.cluster or server.id)
    pairs = [
        (domain, login.connection)
        for domain, names in clusters.items()
        for login in logins
        if len(names) > 1 and login.connection is not None and not login.view.is_system
    ]
    numbers = await asyncio.gather(
        *(domains.count_answers(connection, domain) for domain, connection in pairs)
    )
    counts: dict[str, int] = {}
    for (domain, _), number in zip(pairs, numbers, strict=True):
        counts[domain] = max(number, counts.get(domain, 0))
    return {domain: number for domain, number in counts.items() if number}


async def _try_imports(login: _Login, servers: Sequence[ServerView]) -> Sequence[Import]:
    if login.connection is None or login.view.is_system:
        return ()
    try:
        async with _limit_time(login.connection):
            return await imports.try_imports(login.connection, login.view.account, servers)
    except (JsctlError, TimeoutError, *_MALFORMED):
        return ()


@contextlib.asynccontextmanager
async def _limit_time(connection: Connection) -> AsyncIterator[None]:
    async with asyncio.timeout(_TIMEOUT_FACTOR * connection.settings.timeout / SECOND):
        yield
