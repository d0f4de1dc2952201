"""`jsctl server check meta`."""

from collections.abc import Mapping
from typing import Any

from jsctl.commands.cli import DURATION, command, option
from jsctl.commands.server.check.flags import limits_of, run_check
from jsctl.env import Env
from jsctl.monitor.check.outcome import Check
from jsctl.monitor.check.servers import check_meta
from jsctl.views.result import Result


@command("meta", examples=["jsctl server check meta --expect 3 --lag-critical 10 --seen-critical 10s"])
@option("--expect", into="thresholds", type=int, metavar="N", help="Critical with another number of servers")
@option(
    "--lag-critical",
    into="thresholds",
    type=int,
    metavar="OPERATIONS",
    help="Critical above this lag of a server",
)
@option(
    "--seen-critical",
    into="thresholds",
    type=DURATION,
    metavar="DURATION",
    help="Critical if a server was seen longer ago",
)
async def meta(env: Env, thresholds: Mapping[str, Any]) -> Result:
    """Needs a login of the system account."""

    async def check() -> Check:
        api = await env.jetstream()
        return await check_meta(await env.connection(), api.domain, limits_of(thresholds))

    return await run_check(env, "meta", "JetStream Meta Cluster", check())
