"""`jsctl stream backup`."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from jsctl.commands.cli import SIZE, argument, command, option
from jsctl.commands.shared.pick import pick_stream, stream_name
from jsctl.env import Env
from jsctl.jetstream.api import Json
from jsctl.jetstream.backup import files
from jsctl.jetstream.backup import stream_backup as backups
from jsctl.jetstream.stream import requests as streams
from jsctl.units import SECOND
from jsctl.views.result import Result
from jsctl.views.stream import backup as view


@command(
    "backup",
    examples=[
        "jsctl stream backup ORDERS /data/backup/ORDERS",
        "jsctl stream backup ORDERS /data/backup/ORDERS.tgz",
    ],
)
@argument("stream", default="")
@argument("target", default="")
@option("--progress/--no-progress", default=True, help="Show a progress bar on a terminal")
@option("--check", is_flag=True, help="Have the server read every message first")
@option("--consumers/--no-consumers", default=True, help="Back up the consumers, too")
@option("--chunk-size", type=SIZE, metavar="BYTES", default=0, help="Bytes that the server sends at once")
@option("--window-size", type=SIZE, metavar="BYTES", default=0, help="Bytes that may be on their way")
@option("--force", "-f", is_flag=True, help="Replace an existing backup without asking")
async def backup(
    env: Env,
    stream: str,
    target: str,
    progress: bool,
    check: bool,
    consumers: bool,
    chunk_size: int,
    window_size: int,
    force: bool,
) -> Result:
    """TARGET is a folder, or one file when its name ends in .tgz. It holds the configuration, all messages,
    the consumers with their state, and a digest of it all; jsctl stream restore and the nats tool restore
    it.
    """
    name = stream_name(stream) if stream else await pick_stream(env, await env.jetstream(), "")
    path = target_path(target or await env.prompter.text("Folder or .tgz file to write", flag="TARGET"))
    await may_replace(env, path, force)
    api = await env.jetstream()
    await streams.info(api, name)
    options = backups.Options(consumers, check, max(chunk_size, 0), max(window_size, 0))
    started = time.monotonic()
    with ExitStack() as bars:
        began = announce(env, name, bars, progress)
        if check:
            env.say(f"The server reads all of Stream {name} first; that may take long")
        manifest = await backups.save(api, name, path, options, began=began)
    return view.saved(name, path, manifest, int((time.monotonic() - started) * SECOND))


def target_path(target: str) -> Path:
    return Path(target).expanduser().absolute()


async def may_replace(env: Env, path: Path, force: bool) -> None:
    """Ask before a backup takes the place of another. Raises BadInput, Cancelled."""
    if what := files.obstacle(path):
        await env.confirm(f"{path} holds {what}. Replace it", force=force)


def announce(
    env: Env, name: str, bars: ExitStack, progress: bool, what: str = "backup"
) -> Callable[[Json], files.Told]:
    """What tells people that a backup begins, and opens its progress bar."""

    def began(state: Json) -> files.Told:
        env.say(view.begins(name, state, what))
        size = int(state.get("bytes", 0))
        return bars.enter_context(env.progress(f"Stream {name}", size if progress else 0, in_bytes=True))

    return began
