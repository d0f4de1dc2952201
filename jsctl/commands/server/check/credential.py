"""`jsctl server check credential`."""

from jsctl.commands.cli import DURATION, command, option
from jsctl.commands.server.check.flags import Thresholds, merge_thresholds, run_check, threshold
from jsctl.env import Env
from jsctl.monitor.check.outcome import Check
from jsctl.monitor.check.servers import check_credential
from jsctl.views.result import Result


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
