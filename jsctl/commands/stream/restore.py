"""`jsctl stream restore`."""

import asyncio
import time
from typing import Any

from jsctl.commands.cli import argument, command, option
from jsctl.commands.shared.pick import stream_name
from jsctl.commands.stream.backup import target_path
from jsctl.env import Env, read_input
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.backup import snapshot
from jsctl.jetstream.backup import stream_backup as backups
from jsctl.jetstream.backup.files import Backup, open_backup
from jsctl.jetstream.declared.model import unlabelled
from jsctl.jetstream.stream import config as configs
from jsctl.jetstream.stream import requests as streams
from jsctl.units import SECOND, format_bytes, format_count, format_duration
from jsctl.views.result import Result, Text
from jsctl.views.stream import backup as backup_view
from jsctl.views.stream import info as view


@command(
    "restore",
    examples=[
        "jsctl stream restore /data/backup/ORDERS",
        "jsctl stream restore /data/backup/ORDERS.tgz --name ORDERS_OLD --subjects 'old.>'",
        "jsctl stream restore /data/backup/ORDERS --js-domain leaf --config smaller.yaml",
        "jsctl stream restore ORDERS /data/backup/ORDERS.tgz",
    ],
)
@argument("file", metavar="[STREAM] FILE")
@argument("older", default="", metavar="")
@option("--progress/--no-progress", default=True, help="Show a progress bar on a terminal")
@option("--config", "config_file", metavar="FILE", help="Lay this configuration over the backup's")
@option("--name", metavar="NAME", default="", help="Restore under another name")
@option("--subjects", metavar="SUBJECTS", multiple=True, help="Let the stream listen on these subjects")
@option("--cluster", metavar="CLUSTER", default=None, help="Place the stream in a specific cluster")
@option("--tag", metavar="TAG", multiple=True, help="Place the stream on servers with this tag")
@option("--replicas", type=int, metavar="COUNT", default=None, help="How many replicas of the data to keep")
@option("--force", "-f", is_flag=True, help="Remove what an unfinished restore left, without asking")
async def restore(
    env: Env,
    file: str,
    older: str,
    progress: bool,
    config_file: str | None,
    name: str,
    subjects: tuple[str, ...],
    cluster: str | None,
    tag: tuple[str, ...],
    replicas: int | None,
    force: bool,
) -> Result:
    """FILE is the folder or .tgz file that jsctl stream backup made, or a folder of the nats tool. It is read
    and compared with its digest before the server is asked for anything.
    """
    backup = open_backup(target_path(older or file))
    flags = {"subjects": subjects, "cluster": cluster, "tag": tag, "replicas": replicas}
    wanted = name or (file if older else "")
    config = restored_config(env, backup, config_file, wanted, flags)
    await verify(env, backup, progress)
    api = await env.jetstream()
    await clear_leftover(env, api, config["name"], force)
    started = time.monotonic()
    info, warnings = await load(env, api, backup, config, progress)
    took = int((time.monotonic() - started) * SECOND)
    told = [
        f"Restored Stream {config['name']} from {backup.path} in {format_duration(took)}, "
        f"{backup_view.rate(backup.size, took)}, {format_count(info['state']['messages'])} messages"
    ]
    for warning in warnings:
        env.say(f"warning: {warning}")
    result = view.sheet(info)
    return Result([Text("\n".join(told)), *result.parts], data=result.data)


def restored_config(
    env: Env, backup: Backup, config_file: str | None, name: str, flags: dict[str, Any]
) -> Json:
    """The configuration to restore with: flags over --config over the backup's. Raises BadInput."""
    config = snapshot.without_mark(configs.without_reserved(backup.config))
    if name and name != backup.stream:
        config = unlabelled(config)
    if config_file:
        config = {**config, **configs.parse_config(read_input(config_file, env), config_file)}
    config = configs.lay(config, {flag: value for flag, value in flags.items() if value not in (None, ())})
    if name:
        config["name"] = stream_name(name)
    configs.check(config)
    return config


async def verify(env: Env, backup: Backup, progress: bool) -> None:
    """Compare a backup with its digests. Raises BadInput."""
    with env.progress(f"Checking {backup.stream}", backup.size if progress else 0, in_bytes=True) as told:
        await asyncio.to_thread(backup.verify, told)
    if not backup.manifest:
        env.say(f"{backup.path} has no digest; its form is whole, and the server checks the rest")


async def clear_leftover(env: Env, api: Api, name: str, force: bool) -> None:
    """Remove a stream that an earlier restore did not finish, if the user agrees. Raises JsctlError when
    there is another stream of that name, Cancelled."""
    left = await backups.leftover(api, name)
    if left is None:
        return
    count = format_count(int(left["state"]["messages"]))
    await env.confirm(
        f"Stream {name} is what a restore that did not end left, with {count} messages. Remove it",
        force=force,
    )
    await streams.delete(api, name)


async def load(env: Env, api: Api, backup: Backup, config: Json, progress: bool) -> tuple[Json, list[str]]:
    """Restore a verified backup, with progress; gives the stream's info and warnings."""
    name = str(config["name"])
    origin = f" of Stream {backup.stream}" if name != backup.stream else ""
    env.say(f"Starting restore of Stream {name} from the backup{origin} in {backup.path}, "
            f"{format_bytes(backup.size)}")  # fmt: skip
    label = f"Stream {name}"
    with env.progress(label, backup.size if progress else 0, in_bytes=True) as told:
        info, lost = await backups.load(api, backup, config, told=told)
    return info, backups.judged(name, config, lost)
