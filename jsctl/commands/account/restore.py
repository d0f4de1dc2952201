"""`jsctl account restore`."""

import time

from jsctl.commands.cli import argument, command, option
from jsctl.commands.stream.backup import target_path
from jsctl.env import Env
from jsctl.jetstream.backup import account_backup as backups
from jsctl.units import SECOND, format_bytes, format_count
from jsctl.views.result import Result
from jsctl.views.stream import backup as view


@command(
    "restore",
    examples=["jsctl account restore /data/backup", "jsctl account restore /data/backup --update-streams"],
)
@argument("directory")
@option("--cluster", metavar="CLUSTER", default="", help="Place the streams in a specific cluster")
@option("--tag", metavar="TAG", multiple=True, help="Place the streams on servers with this tag")
@option(
    "--update-streams",
    is_flag=True,
    help="Bring streams that exist to the configuration of the backup, and add their missing consumers",
)
@option("--force", "-f", is_flag=True, help="Remove what an unfinished restore left, without asking")
async def restore(
    env: Env, directory: str, cluster: str, tag: tuple[str, ...], update_streams: bool, force: bool
) -> Result:
    """DIRECTORY is what jsctl account backup made, or the nats tool. All of it is read and compared with its
    digests first. A stream that is broken or exists does not stop the others; it is named at the end, and the
    exit status says so.
    """
    path = target_path(directory)
    found = backups.find(path)
    rows = list(found.broken)
    good = []
    with env.progress("Checking", found.size, in_bytes=True) as told:
        for backup in found.backups:
            if broken := await backups.verify(backup, told):
                rows.append(broken)
            else:
                good.append(backup)
    if found.missing:
        remark = f"{format_count(found.missing)} streams of the backup are not in {path}"
        rows.append({"stream": "(missing)", "messages": 0, "bytes": 0, "status": "failed", "remark": remark})
    api = await env.jetstream()
    env.say(
        f"Restoring {format_count(len(good))} streams from {path}, "
        f"{format_bytes(sum(backup.size for backup in good))}"
    )
    started = time.monotonic()
    with env.progress("Account", sum(backup.size for backup in good), in_bytes=True) as told:
        rows += await backups.load(
            api,
            good,
            update=update_streams,
            force=force,
            placement={"cluster": cluster, "tag": tag},
            told=told,
        )
    took = int((time.monotonic() - started) * SECOND)
    return view.entries(f"Restore from {path}", rows, "restored", took)
