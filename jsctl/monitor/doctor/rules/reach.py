"""Contexts and domains that do not answer, domain names, logins that expire, and slow connections."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from jsctl.base.command_lines import build_line
from jsctl.base.units import (
    SECOND,
    format_count,
    format_time,
    join_some,
    parse_time_ns,
    pluralize,
    read_known_time,
    to_ns,
)
from jsctl.errors import Unreachable
from jsctl.jetstream.api import build_api_prefix
from jsctl.monitor.doctor.imports import list_account_details
from jsctl.monitor.doctor.snapshot import ContextView, ServerView, Snapshot
from jsctl.monitor.rules.catalog import Rule
from jsctl.monitor.rules.contexts import LOGIN_EXPIRES, check_expiry, choose_code
from jsctl.monitor.trouble import Trouble

_SLOW_CONSUMERS = Rule(
    "SLOW_CONSUMERS",
    "servers closed connections that read too slowly",
    "servers",
    why="what was sent to them meanwhile did not arrive; with core NATS it is lost",
    fix="let these clients do less for each message, or share their subscription in a queue group",
)


def context_failed(snapshot: Snapshot) -> Iterator[Trouble]:
    """Yield contexts through which nothing can be seen, or that lack a permission."""
    for context in snapshot.contexts:
        if context.error is not None:
            yield Trouble.of_network(
                "CONTEXT_FAILED",
                f"context {context.name}",
                context.error.message,
                "nothing that this context reaches was checked",
                _describe_fix(context),
                [f"context {context.name}"],
            )
    for view in snapshot.domains:
        if view.error is not None and choose_code(view.error) == "CONTEXT_FAILED":
            yield Trouble.of_network(
                "CONTEXT_FAILED",
                f"context {view.context}",
                f"{view.where}: {view.error.message}",
                "its streams were not checked",
                view.error.hint or "grant the user the permission, or use another context",
                [f"context {view.context}"],
            )


def _describe_fix(context: ContextView) -> str:
    edit = build_line("context edit", context.name)
    if isinstance(context.error, Unreachable):
        return f"start its servers, or correct its address: {edit}"
    hint = context.error.hint if context.error else ""
    if edit in hint:
        return hint
    return f"{hint or 'correct it'}: {edit}"


def domain_missing(snapshot: Snapshot) -> Iterator[Trouble]:
    """Yield domains and API prefixes that a context names and where nobody answers."""
    for view in snapshot.domains:
        if view.error is not None and choose_code(view.error) == "DOMAIN_MISSING":
            domains = sorted({server.domain for server in snapshot.servers if server.jetstream} - {""})
            reachable = f"; the domains within reach are {', '.join(domains)}" if domains else ""
            yield Trouble.of_network(
                "DOMAIN_MISSING",
                f"domain {view.domain}" if view.domain else f"API prefix {view.prefix}",
                f"nobody answers on {view.prefix}, which context {view.context} names{reachable}",
                "its streams cannot be reached from here, and mirrors of them copy nothing",
                "start its servers, connect their leaf node with a remote for this account, or name another"
                f" domain: {build_line('context edit', view.context)}",
                [f"prefix {view.prefix}", *snapshot.copies_through(view.prefix)],
            )


def jetstream_silent(snapshot: Snapshot) -> Iterator[Trouble]:
    """Yield domains that accept requests and do not answer in time."""
    for view in snapshot.domains:
        if view.error is not None and choose_code(view.error) == "JETSTREAM_SILENT":
            yield Trouble.of_network(
                "JETSTREAM_SILENT",
                f"domain {view.domain}" if view.domain else f"JetStream of context {view.context}",
                view.error.message,
                "streams cannot be listed, created or changed",
                f"see which servers answer with {snapshot.build_system_line('server list')}, and read their"
                " logs; --timeout waits longer",
                [f"domain {view.domain}", *snapshot.copies_through(build_api_prefix(view.domain))],
            )


def domain_twice(snapshot: Snapshot) -> Iterator[Trouble]:
    """Yield domains that several leaf nodes or clusters have without being one JetStream."""
    domains: dict[tuple[str, str], dict[str, list[ServerView]]] = defaultdict(lambda: defaultdict(list))
    for server in snapshot.servers:
        if server.jetstream and server.domain:
            domains[server.network, server.domain][server.cluster or server.id].append(server)
    for (_, domain), clusters in domains.items():
        servers = [server for members in clusters.values() for server in members]
        if len(clusters) < 2 or _is_single_jetstream(snapshot, domain, servers):
            continue
        names = sorted(server.name for server in servers)
        yield Trouble.of_network(
            "DOMAIN_TWICE",
            f"domain {domain}",
            f"{format_count(len(clusters))} JetStreams have this domain: servers {', '.join(names)}",
            f"each of them answers requests on $JS.{domain}.API: streams are created, found and mirrored"
            " sometimes on one of them, sometimes on another",
            "configure each with a domain of its own (jetstream { domain: ... }), and restart it",
            [f"server {name}" for name in names],
        )


def _is_single_jetstream(snapshot: Snapshot, domain: str, servers: list[ServerView]) -> bool:
    """Return whether the clusters of a domain are one JetStream: gateways connect them, and one leader
    answers."""
    if domain in snapshot.answers:
        return snapshot.answers[domain] < 2
    return any((server.varz.get("gateway") or {}).get("name") for server in servers)


def domain_unnamed(snapshot: Snapshot) -> Iterator[Trouble]:
    """Yield servers with JetStream without a domain that are connected to one with a domain."""
    named: dict[str, set[str]] = defaultdict(set)
    for server in snapshot.servers:
        if server.jetstream and server.domain:
            named[server.network].add(server.domain)
    for server in snapshot.servers:
        if not server.jetstream or server.domain or server.network not in named:
            continue
        yield Trouble.of_network(
            "DOMAIN_UNNAMED",
            f"server {server.name}",
            f"its JetStream has no domain, and it is connected to domain"
            f" {', '.join(sorted(named[server.network]))}",
            "clients elsewhere cannot reach its streams, no mirror can name it, and requests on $JS.API"
            " may be answered by either side",
            f"write jetstream {{ domain: {server.name} }} into its configuration, and restart it",
            [f"server {server.name}"],
        )


_CERTIFICATES = {"": "clients", "cluster": "routes", "leaf": "leaf nodes", "gateway": "gateways"}
"""The certificates of a server, by the part of its VARZ."""


def login_expires(snapshot: Snapshot) -> Iterator[Trouble]:
    """Yield logins of contexts, JWTs of accounts and certificates of servers that have expired, or will
    soon."""
    now = to_ns(snapshot.at)
    for context in snapshot.contexts:
        if context.error is not None:
            continue  # which says so
        for trouble in check_expiry("its login", context.expires, now):
            fix = f"use new credentials: {build_line('context edit', context.name)}"
            yield trouble.locate(f"context {context.name}", LOGIN_EXPIRES.why, fix)
    seen: set[str] = set()
    for _, account, detail in list_account_details(snapshot):
        claims = detail.get("decoded_jwt") or {}
        name = str(detail.get("name_tag") or account)
        if name not in seen:
            seen.add(name)
            for trouble in check_expiry("its JWT", int(claims.get("exp") or 0) * SECOND, now):
                edit = build_line("auth account edit", name, flags=["--expiry", "1y"])
                push = build_line("auth account push", name)
                yield trouble.locate(
                    f"account {name}", LOGIN_EXPIRES.why, f"sign it again, and push it: {edit} && {push}"
                )
    for server in snapshot.servers:
        for part, whom in _CERTIFICATES.items():
            end = _read_certificate(server.varz, part)
            for trouble in check_expiry(f"its certificate for {whom}", end, now):
                yield trouble.locate(
                    f"server {server.name}", LOGIN_EXPIRES.why, "replace it, and reload the configuration"
                )


def _read_certificate(varz: Mapping[str, Any], part: str) -> int:
    text = read_known_time(str(((varz.get(part) or {}) if part else varz).get("tls_cert_not_after") or ""))
    return parse_time_ns(text) if text else 0


def slow_consumers(snapshot: Snapshot) -> Iterator[Trouble]:
    """Yield servers that closed connections in the last hour because they read too slowly."""
    for server in snapshot.servers:
        if not server.slow:
            continue
        names = sorted({str(each.get("name") or each.get("ip") or each.get("cid")) for each in server.slow})
        last = max(str(each.get("stop") or "") for each in server.slow)
        yield Trouble.of_network(
            _SLOW_CONSUMERS.code,
            f"server {server.name}",
            f"it closed {pluralize(len(server.slow), 'connection')} within an hour, the last one at"
            f" {format_time(last)}: {join_some(names)}",
            _SLOW_CONSUMERS.why,
            _SLOW_CONSUMERS.fix,
            [f"server {server.name}"],
        )


RULES = (
    Rule("DOMAIN_TWICE", "two JetStreams have one domain", "servers"),
    Rule("DOMAIN_UNNAMED", "JetStream behind a leaf node has no domain", "servers"),
    _SLOW_CONSUMERS,
)

CHECKS = (
    context_failed,
    domain_missing,
    jetstream_silent,
    domain_twice,
    domain_unnamed,
    login_expires,
    slow_consumers,
)
