"""Streams as servers describe them to the system account (JSZ), for accounts without a context. No I/O."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from jsctl.jetstream.api import build_api_prefix
from jsctl.jetstream.config.origins import api_to_domain
from jsctl.monitor.doctor.imports import trace_imports
from jsctl.monitor.doctor.snapshot import (
    ContextView,
    DomainView,
    Json,
    Origin,
    ServerView,
    choose_login,
    is_complete,
    list_links,
)
from jsctl.monitor.rules.links import build_create_subject


def build_domain_views(
    servers: Sequence[ServerView], contexts: Sequence[ContextView], seen: Collection[DomainView]
) -> list[DomainView]:
    """Return each account's JetStream in each domain that no context covers.

    contexts: those that were asked. seen: what they showed.
    """
    context = next((context.name for context in contexts if context.is_system), "")
    taken = {context.name for context in contexts}
    covered = {(view.account, view.domain) for view in seen}
    groups: dict[tuple[str, str, str], list[tuple[ServerView, Json]]] = defaultdict(list)
    for server in servers:
        for account, detail in server.held.items():
            if (account, server.domain) not in covered:
                # Without a domain, each cluster is a JetStream of its own.
                cluster = "" if server.domain else server.cluster or server.id
                groups[account, server.domain, cluster].append((server, detail))
    views = [
        _build_view(context, account, domain, details) for (account, domain, _), details in groups.items()
    ]
    views = [view._replace(login=choose_login(view.account_name, taken)) for view in views]
    network = min((server.id for server in servers if server.varz), default="")
    views = [view._replace(network=network) for view in views]
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
