"""Tokens and certificates that expire, and connections that servers closed because they were slow."""

from collections.abc import Iterator, Mapping
from typing import Any

from jsctl.base.command_lines import build_line
from jsctl.base.units import SECOND, format_time, parse_time_ns, pluralize, read_known_time, to_ns
from jsctl.monitor.doctor.imports import list_account_details
from jsctl.monitor.doctor.snapshot import Snapshot
from jsctl.monitor.rules.catalog import BY_CODE
from jsctl.monitor.rules.contexts import check_expiry
from jsctl.monitor.trouble import Trouble

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
            yield _build(trouble, f"context {context.name}", fix)
    seen: set[str] = set()
    for _, account, detail in list_account_details(snapshot):
        claims = detail.get("decoded_jwt") or {}
        name = str(detail.get("name_tag") or account)
        if name not in seen:
            seen.add(name)
            for trouble in check_expiry("its JWT", int(claims.get("exp") or 0) * SECOND, now):
                edit = build_line("auth account edit", name, flags=["--expiry", "1y"])
                push = build_line("auth account push", name)
                yield _build(trouble, f"account {name}", f"sign it again, and push it: {edit} && {push}")
    for server in snapshot.servers:
        for part, whom in _CERTIFICATES.items():
            end = _read_certificate(server.varz, part)
            for trouble in check_expiry(f"its certificate for {whom}", end, now):
                yield _build(trouble, f"server {server.name}", "replace it, and reload the configuration")


def _read_certificate(varz: Mapping[str, Any], part: str) -> int:
    text = read_known_time(str(((varz.get(part) or {}) if part else varz).get("tls_cert_not_after") or ""))
    return parse_time_ns(text) if text else 0


def _build(trouble: Trouble, about: str, fix: str) -> Trouble:
    rule = BY_CODE[trouble.code]
    return trouble.locate(about, rule.why, fix or rule.fix)


def slow_consumers(snapshot: Snapshot) -> Iterator[Trouble]:
    """Yield servers that closed connections in the last hour because they read too slowly."""
    rule = BY_CODE["SLOW_CONSUMERS"]
    for server in snapshot.servers:
        if not server.slow:
            continue
        names = sorted({str(each.get("name") or each.get("ip") or each.get("cid")) for each in server.slow})
        last = max(str(each.get("stop") or "") for each in server.slow)
        yield Trouble.of_network(
            rule.code,
            f"server {server.name}",
            f"it closed {pluralize(len(server.slow), 'connection')} within an hour, the last one at"
            f" {format_time(last)}: {', '.join(names[:4])}{' and others' if len(names) > 4 else ''}",
            rule.why,
            rule.fix,
            [f"server {server.name}"],
        )
