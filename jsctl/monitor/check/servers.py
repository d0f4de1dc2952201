"""Checks of connections, servers, the meta group, services and credentials. Spans are ns."""

import re
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from jsctl.auth.jwt import decode_jwt
from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput
from jsctl.files import read_text
from jsctl.monitor.check.outcome import Check
from jsctl.monitor.server.find import find_server
from jsctl.monitor.server.meta import fetch_meta
from jsctl.monitor.server.reports import parse_span
from jsctl.nats.connection import Connection
from jsctl.nats.headers import encode_headers
from jsctl.nats.message import OutgoingMessage
from jsctl.patterns import compile_pattern
from jsctl.units import SECOND, format_duration, pluralize
from jsctl.user_folders import expand_home

Json = dict[str, Any]
Limits = Mapping[str, float]

_JWT = re.compile(r"-{3,}\s*BEGIN NATS USER JWT-{3,}\s*(\S+)")


def _get_thresholds(limits: Limits, key: str) -> dict[str, Any]:
    """Return the thresholds `key`-warn and `key`-critical, which are in ns, in seconds."""
    bounds = {kind: limits.get(f"{key}-{kind}") for kind in ("warn", "critical")}
    return {kind: None if value is None else value / SECOND for kind, value in bounds.items()}


def _format_seconds(seconds: float) -> str:
    return format_duration(int(seconds * SECOND))


async def check_connection(settings: Settings, limits: Limits) -> Check:
    """Check how long it takes to connect, to ping, and to send a message to oneself. Raises JsctlError."""
    check = Check("connections", "Connection")
    start = time.perf_counter()
    connection = await Connection.open(settings)
    try:
        elapsed = time.perf_counter() - start
        check.measure(
            "connect_time",
            elapsed,
            "connected in",
            unit="s",
            format_value=_format_seconds,
            **_get_thresholds(limits, "connect"),
        )
        rtt = await connection.measure_rtt() / SECOND
        check.measure(
            "rtt",
            rtt,
            "round-trip time",
            unit="s",
            format_value=_format_seconds,
            **_get_thresholds(limits, "rtt"),
        )
        inbox = connection.new_inbox()
        async with connection.subscribe(inbox) as subscription:
            start = time.perf_counter()
            await connection.publish(inbox, b"check")
            message = await subscription.next(settings.timeout)
        elapsed = time.perf_counter() - start
        if message is None:
            check.criticals.append(
                f"a message to oneself did not arrive in {format_duration(settings.timeout)}"
            )
        else:
            check.measure(
                "request_time",
                elapsed,
                "a message took",
                unit="s",
                format_value=_format_seconds,
                **_get_thresholds(limits, "req"),
            )
    finally:
        await connection.close()
    return check


async def check_meta(connection: Connection, domain: str, limits: Limits) -> Check:
    """Check the meta group of a domain. Raises JsctlError."""
    check = Check("meta", "JetStream Meta Cluster")
    meta = await fetch_meta(connection, domain)
    peers = meta.get("replicas") or []
    expected = limits.get("expect")
    text = f"{pluralize(len(peers) + 1, 'peer')} led by {meta.get('leader')}"
    check.require(bool(meta.get("leader")), text, "no leader")
    if expected is not None and len(peers) + 1 != expected:
        check.criticals.append(f"{pluralize(len(peers) + 1, 'peer')}, expected {expected:g}")
    max_lag, max_silence = limits.get("lag-critical"), limits.get("seen-critical")
    bad_peers: Sequence[tuple[str, str, list[str]]] = (
        ("peer_offline", "offline", [p["name"] for p in peers if p.get("offline")]),
        ("peer_not_current", "not current", [p["name"] for p in peers if not p.get("current")]),
        (
            "peer_inactive",
            "inactive",
            [p["name"] for p in peers if max_silence is not None and p.get("active", 0) > max_silence],
        ),
        (
            "peer_lagged",
            "behind",
            [p["name"] for p in peers if max_lag is not None and p.get("lag", 0) > max_lag],
        ),
    )
    check.measure("peers", len(peers) + 1, "peers")
    for name, label, names in bad_peers:
        check.measure(name, len(names), f"peers that are {label}")
        check.criticals += [f"{name} is {label}" for name in names]
    return check


async def check_server(
    connection: Connection, name: str, limits: Limits, required: Mapping[str, bool]
) -> Check:
    """Check a server. required: "auth", "tls", "js": what must be on. Raises JsctlError."""
    data: Json = (await find_server(connection, name))["data"]
    check = Check("server", data["server_name"])
    check.measure(
        "uptime",
        parse_span(data.get("uptime")) / SECOND,
        "uptime",
        unit="s",
        low_is_bad=True,
        format_value=_format_seconds,
        **_get_thresholds(limits, "uptime"),
    )
    for key, datum, label, unit in (
        ("cpu", "cpu", "CPU", "%"),
        ("mem", "mem", "memory", "B"),
        ("conn", "connections", "connections", ""),
        ("subs", "subscriptions", "subscriptions", ""),
    ):
        warn, critical = limits.get(f"{key}-warn"), limits.get(f"{key}-critical")
        check.measure(datum, data.get(datum, 0), label, unit=unit, warn=warn, critical=critical)
    states = {
        "auth": (bool(data.get("auth_required")), "authentication"),
        "tls": (bool(data.get("tls_required")), "TLS"),
        "js": (bool((data.get("jetstream") or {}).get("config")), "JetStream"),
    }
    for key, (is_on, label) in states.items():
        if required.get(key):
            check.require(is_on, f"{label} is on", f"{label} is off")
    expiry = data.get("tls_cert_not_after")
    if expiry and ("tls-cert-warn" in limits or "tls-cert-critical" in limits):
        remaining = datetime.fromisoformat(expiry.replace("Z", "+00:00")) - datetime.now(UTC)
        check.measure(
            "tls_cert",
            remaining.total_seconds(),
            "certificate expires in",
            unit="s",
            low_is_bad=True,
            format_value=_format_seconds,
            **_get_thresholds(limits, "tls-cert"),
        )
    return check


async def check_request(
    connection: Connection,
    subject: str,
    payload: bytes,
    headers: Sequence[tuple[str, str]],
    limits: Limits,
    *,
    match_payload: str,
    match_headers: Sequence[tuple[str, str]],
) -> Check:
    """Check that a service answers in time, and with what. Raises JsctlError."""
    check = Check("request", subject)
    start = time.perf_counter()
    answer = await connection.request_message(
        OutgoingMessage(subject, payload, header_block=encode_headers(headers))
    )
    elapsed = time.perf_counter() - start
    check.measure(
        "time",
        elapsed,
        "answered in",
        unit="s",
        format_value=_format_seconds,
        **_get_thresholds(limits, "response"),
    )
    body = answer.data.decode(errors="replace")
    if match_payload:
        check.require(
            _matches(match_payload, body),
            "the payload matches",
            f"the payload does not match {match_payload}",
        )
    values = dict(answer.headers)
    for name, pattern in match_headers:
        good = _matches(pattern, values.get(name, ""))
        check.require(good, f"header {name} matches", f"header {name} does not match {pattern}")
    return check


def check_credential(path: str, limits: Limits, *, require_expiry: bool, now: float) -> Check:
    """Check how long a credentials file is valid. now: seconds since the epoch. Raises BadInput."""
    check = Check("credential", "Credential")
    match = _JWT.search(read_text(expand_home(path), "credentials file"))
    if not match:
        raise BadInput(f"{path} is not a credentials file: it holds no user JWT")
    expiry = decode_jwt(match[1]).get("exp")
    if not expiry:
        check.require(not require_expiry, "it never expires", "it never expires")
        return check
    remaining = float(expiry) - now
    if remaining <= 0:
        check.criticals.append(f"it expired {_format_seconds(-remaining)} ago")
        return check
    check.measure(
        "expiry",
        remaining,
        "expires in",
        unit="s",
        low_is_bad=True,
        format_value=_format_seconds,
        **_get_thresholds(limits, "validity"),
    )
    return check


def _matches(pattern: str, text: str) -> bool:
    return compile_pattern(pattern).search(text) is not None
