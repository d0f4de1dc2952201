"""Checks of connections, servers, the meta group, services and credentials. Spans are ns."""

import re
import time
from collections.abc import Mapping, Sequence

from jsctl.auth.claims import as_number, as_object, as_text
from jsctl.auth.jwt import decode_jwt
from jsctl.auth.signatures import find_signature_problem
from jsctl.base.files import read_text
from jsctl.base.patterns import compile_pattern
from jsctl.base.units import SECOND, format_duration, pluralize, to_ns
from jsctl.base.user_folders import expand_home
from jsctl.contexts.settings import Settings
from jsctl.errors import BadInput, JsctlError
from jsctl.monitor.check.outcome import (
    Bad,
    Check,
    CheckStatus,
    Limits,
    format_seconds,
    get_limit,
    get_pair,
)
from jsctl.monitor.server.find import find_server
from jsctl.monitor.server.meta import fetch_meta
from jsctl.monitor.server.reports import parse_span
from jsctl.monitor.server.requests import Json
from jsctl.nats.connection import Connection
from jsctl.nats.headers import encode_headers
from jsctl.nats.message import OutgoingMessage

_JWT = re.compile(r"-{3,}\s*BEGIN NATS USER JWT-{3,}\s*(\S+)")


async def check_connection(settings: Settings, limits: Limits) -> Check:
    """Check how long it takes to connect, to ping, and to send a message to oneself. Raises JsctlError."""
    check = Check("connections", "Connection")
    start = time.perf_counter()
    connection = await Connection.open(settings)
    try:
        elapsed = time.perf_counter() - start
        check.good.append(f"connected to {connection.url}")
        check.measure("connect_time", elapsed, "connected in", get_pair(limits, "connect"), unit="s")
        rtt = await connection.measure_rtt() / SECOND
        check.measure("rtt", rtt, "round-trip time", get_pair(limits, "rtt"), unit="s")
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
            check.measure("request_time", elapsed, "a message took", get_pair(limits, "req"), unit="s")
    finally:
        await connection.close()
    return check


async def check_meta(connection: Connection, domain: str, limits: Limits) -> Check:
    """Check the meta group of a domain. Raises JsctlError."""
    check = Check("meta", "JetStream Meta Cluster")
    check_peers(check, await fetch_meta(connection, domain), limits)
    return check


def check_peers(check: Check, meta: Json, limits: Limits) -> None:
    """Add what is wrong with a meta group, as a server describes it, to a check."""
    peers = meta.get("replicas") or []
    expected = get_limit(limits, "expect")
    text = f"{pluralize(len(peers) + 1, 'peer')} led by {meta.get('leader')}"
    check.require(bool(meta.get("leader")), text, "no leader")
    if expected is not None and len(peers) + 1 != expected:
        check.criticals.append(f"{pluralize(len(peers) + 1, 'peer')}, expected {expected:g}")
    max_lag, max_silence = get_limit(limits, "lag-critical"), get_limit(limits, "seen-critical")
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
    check.report("peers", len(peers) + 1, "peers", (expected, expected))
    for name, label, names in bad_peers:
        check.report(name, len(names), f"peers that are {label}")
        check.criticals += [f"{name} is {label}" for name in names]


async def check_server(
    connection: Connection, name: str, limits: Limits, required: Mapping[str, bool]
) -> Check:
    """Check a server. required: "auth", "tls", "js": what must be on. Raises JsctlError."""
    data: Json = (await find_server(connection, name))["data"]
    check = Check("server", data["server_name"])
    uptime = parse_span(data.get("uptime")) / SECOND
    check.measure("uptime", uptime, "uptime", get_pair(limits, "uptime"), unit="s", bad="low", ordered=True)
    kinds: Sequence[tuple[str, str, str, str, Bad]] = (
        ("cpu", "cpu", "CPU", "%", "high"),
        ("mem", "mem", "memory", "B", "high"),
        ("conn", "connections", "connections", "", "either"),
        ("subs", "subscriptions", "subscriptions", "", "either"),
    )
    for key, datum, label, unit, bad in kinds:
        pair = get_pair(limits, key)
        check.measure(datum, data.get(datum, 0), label, pair, unit=unit, bad=bad, ordered=True)
    states = {
        "auth": (bool(data.get("auth_required")), "authentication"),
        "tls": (bool(data.get("tls_required")), "TLS"),
        "js": (bool((data.get("jetstream") or {}).get("config")), "JetStream"),
    }
    for key, (is_on, label) in states.items():
        if required.get(key):
            check.require(is_on, f"{label} is on", f"{label} is off")
    if any(get_pair(limits, "tls-cert")):
        _check_certificates(check, data, limits)
    return check


def _check_certificates(check: Check, data: Json, limits: Limits) -> None:
    """Compare the certificates in VARZ with `tls-cert-warn` and `tls-cert-critical`."""
    names = []
    for part in ("", "cluster", "gateway", "leaf", "mqtt", "websocket"):
        expiry = ((data.get(part) or {}) if part else data).get("tls_cert_not_after")
        if not expiry or expiry.startswith("0001-"):
            continue
        remaining = (to_ns(expiry) - to_ns(data["now"])) / SECOND
        name, label = (f"tls_cert_{part}", f"certificate of {part}") if part else ("tls_cert", "certificate")
        names.append(name)
        check.measure(
            name, remaining, f"{label} expires in", get_pair(limits, "tls-cert"), unit="s", bad="low"
        )
    if not names:
        check.criticals.append("the server has no certificate")


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
    try:
        answer = await connection.request_message(
            OutgoingMessage(subject, payload, header_block=encode_headers(headers))
        )
    except JsctlError as error:
        check.criticals.append(str(error))
        answer = None
    elapsed = time.perf_counter() - start
    check.measure("time", elapsed, "answered in", get_pair(limits, "response"), unit="s", reached=False)
    if answer is None:
        return check
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
    if check.status is CheckStatus.OK:
        check.good.insert(0, "the response is valid")
    return check


def check_credential(path: str, limits: Limits, *, require_expiry: bool, now: float) -> Check:
    """Check how long a credentials file is valid. now: seconds since the epoch. Raises BadInput."""
    check = Check("credential", "Credential")
    match = _JWT.search(read_text(expand_home(path), "credentials file"))
    if not match:
        raise BadInput(f"{path} is not a credentials file: it holds no user JWT")
    claims = decode_jwt(match[1])
    version = as_number(as_object(claims.get("nats")).get("version"))
    if problem := find_signature_problem(match[1], as_text(claims.get("iss")), version):
        check.criticals.append(f"the JWT {problem}")
    expiry = claims.get("exp")
    if not expiry:
        check.require(not require_expiry, "it never expires", "it never expires")
        return check
    remaining = float(expiry) - now
    check.measure("expiry", remaining, "expires in", get_pair(limits, "validity"), unit="s", bad="low")
    if remaining <= 0:  # CHECK_OUTCOME
        check.criticals[:] = [f"it expired {format_seconds(-remaining)} ago"]
    elif not check.good:
        check.good.append(f"expires in {format_seconds(remaining)}")
    return check


def _matches(pattern: str, text: str) -> bool:
    return compile_pattern(pattern).search(text) is not None
