"""`jsctl server check meta`."""

from jsctl.commands.cli import DURATION, command
from jsctl.commands.server.check.flags import Thresholds, merge_thresholds, run_check, threshold
from jsctl.env import Env
from jsctl.monitor.check.outcome import Check
from jsctl.monitor.check.servers import check_meta
from jsctl.views.result import Result


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
