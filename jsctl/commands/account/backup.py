"""`jsctl account backup`."""

import time

from jsctl.commands.cli import argument, command, option
from jsctl.commands.stream.backup import target_path
from jsctl.env import Env
from jsctl.errors import NotFound
from jsctl.jetstream import api_levels
from jsctl.jetstream.api import Json
from jsctl.jetstream.backup import account_backup as backups
from jsctl.jetstream.backup.stream_backup import Options
from jsctl.jetstream.stream import requests as streams
from jsctl.units import SECOND, format_bytes, format_count
from jsctl.views.result import Result
from jsctl.views.stream import backup as view


@command(
    "backup",
    examples=["jsctl account backup /data/backup", "jsctl account backup /data/backup --force --check"],
)
@argument("target")
@option("--check", is_flag=True, help="Have the server read every message first")
@option("--consumers/--no-consumers", default=True, help="Back up the consumers, too")
@option("--force", "-f", is_flag=True, help="Replace an existing backup without asking")
@option("--critical-warnings", "-w", is_flag=True, help="Let warnings count as failures")
@option("--data", is_flag=True, hidden=True, help="Older form: messages are always part of the backup")
async def backup(
    env: Env, target: str, check: bool, consumers: bool, force: bool, critical_warnings: bool, data: bool
) -> Result:
    """TARGET gets a folder for each stream, as jsctl stream backup makes it. A stream that fails does not
    stop the others; it is named at the end, and the exit status says so.
    """
    path = target_path(target)
    what = backups.obstacle(path)
    api = await env.jetstream()
    wanted = sorted(await streams.names(api))
    if not wanted:
        raise NotFound("there are no streams to back up")
    size = await _size(env, wanted)
    env.say(f"Performing backup of {format_count(len(wanted))} streams with {format_bytes(size)} to {path}")
    if what:
        await env.confirm(f"{path} holds {what}. Replace it", force=force)
    started = time.monotonic()
    options = Options(consumers=consumers, check=check)
    with env.progress("Account", size, in_bytes=True) as told:
        rows = await backups.save(api, path, wanted, options, told=told)
    if critical_warnings:
        rows = [{**row, "status": "failed"} if row["status"] == "warning" else row for row in rows]
    took = int((time.monotonic() - started) * SECOND)
    return view.entries(f"Backup in {path}", rows, "saved", took)


async def _size(env: Env, wanted: list[str]) -> int:
    """Bytes of the account's streams, as far as the server says."""
    info: Json = await api_levels.account_info(await env.jetstream())
    return int(info.get("memory", 0)) + int(info.get("storage", 0))
