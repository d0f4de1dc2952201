"""`jsctl kv info`."""

from jsctl.commands.cli import argument, command
from jsctl.commands.kv.shared import open_named
from jsctl.env import Env
from jsctl.jetstream.kv import read
from jsctl.views.kv import info as view
from jsctl.views.result import Result


@command("info", examples=["jsctl kv info CONFIG", "jsctl kv info CONFIG --json"])
@argument("bucket", default="")
async def info(env: Env, bucket: str) -> Result:
    """Show how many keys have a value; in a bucket with more than 10,000 keys, deleted ones count, too."""
    opened = await open_named(env, bucket)
    if env.form in ("table", "plain") and (opened.info.get("mirror") or opened.info.get("sources")):
        from jsctl.monitor.origins import measure_lag

        opened = opened._replace(info=await measure_lag(opened.api, opened.info))
    return view.info_page(opened, await read.count_keys(opened))
