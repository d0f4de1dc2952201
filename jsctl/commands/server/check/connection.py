"""`jsctl server check connection`."""

from jsctl.base.units import MS, SECOND
from jsctl.commands.cli import DURATION, command
from jsctl.commands.server.check.flags import Thresholds, merge_thresholds, run_check, threshold
from jsctl.env import Env
from jsctl.monitor.check.servers import check_connection
from jsctl.views.result import Result

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
