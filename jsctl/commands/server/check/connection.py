"""`jsctl server check connection`."""

from collections.abc import Mapping
from typing import Any

from jsctl.commands.cli import DURATION, command, option
from jsctl.commands.server.check.flags import limits_of, run_check
from jsctl.env import Env
from jsctl.monitor.check.servers import check_connection
from jsctl.units import MS, SECOND
from jsctl.views.result import Result

_DEFAULTS = {
    f"{what}-{kind}": span
    for what in ("connect", "rtt", "req")
    for kind, span in (("warn", 500 * MS), ("critical", SECOND))
}


@command(
    "connection", examples=["jsctl server check connection", "jsctl server check connection --rtt-warn 50ms"]
)
@option(
    "--connect-warn",
    into="thresholds",
    type=DURATION,
    metavar="DURATION",
    help="Warn above this time to connect; 500ms",
)
@option(
    "--connect-critical",
    into="thresholds",
    type=DURATION,
    metavar="DURATION",
    help="Critical above this time to connect; 1s",
)
@option(
    "--rtt-warn",
    into="thresholds",
    type=DURATION,
    metavar="DURATION",
    help="Warn above this time of a ping; 500ms",
)
@option(
    "--rtt-critical",
    into="thresholds",
    type=DURATION,
    metavar="DURATION",
    help="Critical above this time of a ping; 1s",
)
@option(
    "--req-warn",
    into="thresholds",
    type=DURATION,
    metavar="DURATION",
    help="Warn above this time of a message to oneself; 500ms",
)
@option(
    "--req-critical",
    into="thresholds",
    type=DURATION,
    metavar="DURATION",
    help="Critical above this time of a message to oneself; 1s",
)
async def connection(env: Env, thresholds: Mapping[str, Any]) -> Result:
    limits = limits_of(thresholds, _DEFAULTS)
    return await run_check(env, "connection", "Connection", check_connection(env.settings(), limits))
