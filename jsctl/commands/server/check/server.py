"""`jsctl server check server`, `meta`, `connection`, `credential`, `request`: servers, and ways to them."""

from jsctl.base.units import MS, SECOND
from jsctl.commands.cli import DURATION, SIZE, command, option
from jsctl.commands.server.check.flags import Thresholds, merge_thresholds, run_check, threshold
from jsctl.env import Env
from jsctl.monitor.check.outcome import Check
from jsctl.monitor.check.servers import (
    check_connection,
    check_credential,
    check_meta,
    check_request,
    check_server,
)
from jsctl.nats.headers import parse_header_text
from jsctl.views.result import Result


@command("server", examples=["jsctl server check server --name n1 --cpu-warn 80 --js-required"])
@option("--name", metavar="NAME", default="", help="The server; without it, that of the connection")
@threshold("--cpu-warn", int, "PERCENT", "Warn from this CPU use on")
@threshold("--cpu-critical", int, "PERCENT", "Critical from this CPU use on")
@threshold("--mem-warn", SIZE, "SIZE", "Warn from this memory use on")
@threshold("--mem-critical", SIZE, "SIZE", "Critical from this memory use on")
@threshold("--conn-warn", int, "N", "Warn from this number of connections on")
@threshold("--conn-critical", int, "N", "Critical from this number of connections on")
@threshold("--subs-warn", int, "N", "Warn from this number of subscriptions on")
@threshold("--subs-critical", int, "N", "Critical from this number of subscriptions on")
@threshold("--uptime-warn", DURATION, "DURATION", "Warn if it has run for less")
@threshold("--uptime-critical", DURATION, "DURATION", "Critical if it has run for less")
@option("--auth-required", is_flag=True, help="Authentication must be on")
@option("--tls-required", is_flag=True, help="TLS must be on")
@option("--js-required", is_flag=True, help="JetStream must be on")
@threshold("--tls-cert-warn", DURATION, "DURATION", "Warn if the certificate expires sooner")
@option(
    "--tls-cert-crit",
    "tls_cert_critical",
    into="thresholds",
    type=DURATION,
    metavar="DURATION",
    help="Critical if the certificate expires sooner",
)
async def server(
    env: Env,
    name: str,
    auth_required: bool,
    tls_required: bool,
    js_required: bool,
    thresholds: Thresholds,
) -> Result:
    """Ask the server, which needs a login of the system account."""
    required = {"auth": auth_required, "tls": tls_required, "js": js_required}

    async def check() -> Check:
        return await check_server(await env.connection(), name, merge_thresholds(thresholds), required)

    return await run_check(env, "server", name or "server", check())


@command("meta", examples=["jsctl server check meta --expect 3 --lag-critical 10 --seen-critical 10s"])
@threshold("--expect", int, "N", "Critical with another number of servers")
@threshold("--lag-critical", int, "OPERATIONS", "Critical above this lag of a server")
@threshold("--seen-critical", DURATION, "DURATION", "Critical if a server was last seen longer ago")
async def meta(env: Env, thresholds: Thresholds) -> Result:
    """Ask all servers, which needs a login of the system account."""

    async def check() -> Check:
        api = await env.jetstream()
        return await check_meta(await env.connection(), api.domain, merge_thresholds(thresholds))

    return await run_check(env, "meta", "JetStream Meta Cluster", check())


_DEFAULTS = {
    f"{measure}-{kind}": span
    for measure in ("connect", "rtt", "req")
    for kind, span in (("warn", 500 * MS), ("critical", SECOND))
}


@command(
    "connection", examples=["jsctl server check connection", "jsctl server check connection --rtt-warn 50ms"]
)
@threshold("--connect-warn", DURATION, "DURATION", "Warn from this time to connect on (500ms)")
@threshold("--connect-critical", DURATION, "DURATION", "Critical from this time to connect on (1s)")
@threshold("--rtt-warn", DURATION, "DURATION", "Warn from this time of a ping on (500ms)")
@threshold("--rtt-critical", DURATION, "DURATION", "Critical from this time of a ping on (1s)")
@threshold("--req-warn", DURATION, "DURATION", "Warn from this time of a message to itself on (500ms)")
@threshold("--req-critical", DURATION, "DURATION", "Critical from this time of a message to itself on (1s)")
async def connection(env: Env, thresholds: Thresholds) -> Result:
    limits = merge_thresholds(thresholds, _DEFAULTS)
    return await run_check(env, "connections", "Connection", check_connection(env.settings(), limits))


@command("credential", examples=["jsctl server check credential --credential app.creds --validity-warn 30d"])
@option("--credential", required=True, metavar="FILE", help="The credentials file")
@threshold("--validity-warn", DURATION, "DURATION", "Warn if it expires sooner")
@threshold("--validity-critical", DURATION, "DURATION", "Critical if it expires sooner")
@option("--require-expiry/--no-require-expiry", default=True, help="Critical if it never expires")
async def credential(env: Env, credential: str, require_expiry: bool, thresholds: Thresholds) -> Result:
    async def check() -> Check:
        limits = merge_thresholds(thresholds)
        return check_credential(credential, limits, require_expiry=require_expiry, now=env.clock())

    return await run_check(env, "credential", "Credential", check())


@command("request", examples=["jsctl server check request --subject echo --payload hi --match-payload hi"])
@option("--subject", required=True, metavar="SUBJECT", help="Subject of the service")
@option("--payload", metavar="TEXT", default="", help="Body of the request")
@option(
    "--headers", "-H", metavar="NAME:VALUE", multiple=True, help="A header of the request; may be repeated"
)
@option("--match-payload", metavar="REGEX", default="", help="Pattern that the reply must match")
@option(
    "--match-headers",
    metavar="NAME:REGEX",
    multiple=True,
    help="Pattern that a header must match; may be repeated",
)
@threshold("--response-critical", DURATION, "DURATION", "Critical above this time")
@threshold("--response-warn", DURATION, "DURATION", "Warn above this time")
async def request(
    env: Env,
    subject: str,
    payload: str,
    headers: tuple[str, ...],
    match_payload: str,
    match_headers: tuple[str, ...],
    thresholds: Thresholds,
) -> Result:
    sent = [parse_header_text(text, "NAME:VALUE") for text in headers]
    expected = [parse_header_text(text, "NAME:REGEX") for text in match_headers]

    async def check() -> Check:
        return await check_request(
            await env.connection(),
            subject,
            payload.encode(),
            sent,
            merge_thresholds(thresholds),
            match_payload=match_payload,
            match_headers=expected,
        )

    return await run_check(env, "request", subject, check())
