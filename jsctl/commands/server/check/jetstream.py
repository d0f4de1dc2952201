"""`jsctl server check jetstream`."""

from jsctl.base.units import SECOND
from jsctl.commands.cli import DURATION, command, option
from jsctl.commands.server.check.flags import Thresholds, merge_thresholds, run_check, threshold
from jsctl.env import Env
from jsctl.monitor.check.outcome import Check
from jsctl.monitor.check.streams import check_account
from jsctl.views.result import Result

_DEFAULTS = {
    "mem-warn": 75.0,
    "mem-critical": 90.0,
    "store-warn": 75.0,
    "store-critical": 90.0,
    "replica-seen-critical": 5.0 * SECOND,
    "replica-lag-critical": 200.0,
}


@command(
    "jetstream",
    examples=["jsctl server check jetstream", "jsctl server check jetstream --streams-warn 80"],
)
@threshold("--mem-warn", int, "PERCENT", "Warn above this percentage of the memory (75)")
@threshold("--mem-critical", int, "PERCENT", "Critical above this percentage of the memory (90)")
@threshold("--store-warn", int, "PERCENT", "Warn above this percentage of the disk space (75)")
@threshold("--store-critical", int, "PERCENT", "Critical above this percentage of the disk space (90)")
@threshold("--streams-warn", int, "PERCENT", "Warn above this percentage of the streams")
@threshold("--streams-critical", int, "PERCENT", "Critical above this percentage of the streams")
@threshold("--consumers-warn", int, "PERCENT", "Warn above this percentage of the consumers")
@threshold("--consumers-critical", int, "PERCENT", "Critical above this percentage of the consumers")
@option("--replicas/--no-replicas", default=True, help="Check the replicas of all streams")
@threshold(
    "--replica-seen-critical", DURATION, "DURATION", "Critical if a replica was last seen longer ago (5s)"
)
@threshold("--replica-lag-critical", int, "OPERATIONS", "Critical above this lag of a replica (200)")
async def jetstream(env: Env, replicas: bool, thresholds: Thresholds) -> Result:
    """Compare usage with the account's limits; percentages are of these."""

    async def check() -> Check:
        limits = merge_thresholds(thresholds, _DEFAULTS)
        return await check_account(await env.jetstream(), limits, replicas=replicas)

    return await run_check(env, "jetstream", "JetStream", check())
