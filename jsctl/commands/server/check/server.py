"""`jsctl server check server`."""

from jsctl.commands.cli import DURATION, SIZE, command, option
from jsctl.commands.server.check.flags import Thresholds, merge_thresholds, run_check, threshold
from jsctl.env import Env
from jsctl.monitor.check.outcome import Check
from jsctl.monitor.check.servers import check_server
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
