"""`jsctl server check kv`."""

from jsctl.commands.cli import command, option
from jsctl.commands.server.check.flags import Thresholds, merge_thresholds, run_check, threshold
from jsctl.env import Env
from jsctl.monitor.check.outcome import Check
from jsctl.monitor.check.streams import check_bucket
from jsctl.views.result import Result


@command("kv", examples=["jsctl server check kv --bucket CONFIG --key ready"])
@option("--bucket", required=True, noun="bucket", metavar="BUCKET", help="The bucket")
@option("--key", metavar="KEY", default="", help="A key that must have a value")
@threshold("--values-warn", int, "N", "Warn from this number of values on")
@threshold("--values-critical", int, "N", "Critical from this number of values on")
async def kv(env: Env, bucket: str, key: str, thresholds: Thresholds) -> Result:
    """Report a bucket that does not exist as critical."""

    async def check() -> Check:
        return await check_bucket(await env.jetstream(), bucket, key, merge_thresholds(thresholds))

    return await run_check(env, "kv", bucket, check())
