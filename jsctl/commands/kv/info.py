"""`jsctl kv info`."""

from jsctl.commands.cli import argument, command
from jsctl.commands.kv.shared import open_named
from jsctl.env import Env
from jsctl.views.kv import info as view
from jsctl.views.result import Result


@command("info", examples=["jsctl kv info CONFIG", "jsctl kv info CONFIG --json"])
@argument("bucket", default="")
async def info(env: Env, bucket: str) -> Result:
    return view.sheet(await open_named(env, bucket))
