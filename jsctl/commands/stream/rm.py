"""`jsctl stream rm`."""

from typing import Any

from jsctl.commands.cli import argument, command, option
from jsctl.commands.shared.pick import pick_streams
from jsctl.env import Env
from jsctl.errors import BadInput, JsctlError
from jsctl.jetstream.stream import requests as streams
from jsctl.jetstream.stream.purge_loss import Loss
from jsctl.views.result import Result, Text
from jsctl.views.stream import removal


@command(
    "rm",
    examples=[
        "jsctl stream rm ORDERS",
        "jsctl stream rm ORDERS --force",
        "jsctl stream rm 'LOGS_*' OLD --dry-run",
    ],
)
@argument("stream", nargs=-1)
@option("--dry-run", is_flag=True, help="Only say what would go")
@option("--force", "-f", is_flag=True, help="Remove without asking")
async def rm(env: Env, stream: tuple[str, ...], dry_run: bool, force: bool) -> Result:
    """Asks once, however many names and patterns are given."""
    if force and not stream:
        raise BadInput("--force needs the stream's name", "give STREAM")
    api = await env.jetstream()
    names = await pick_streams(env, api, stream)
    if dry_run or not force:
        infos = await streams.infos(api, names)
        losses = {
            name: Loss(int(info["state"]["messages"]), int(info["state"]["bytes"]))
            for name, info in zip(names, infos, strict=True)
        }
        if dry_run:
            return removal.dry_run("delete", losses)
        await env.confirm(removal.question("delete", losses), force=False)
    done: list[str] = []
    for name in names:
        try:
            await streams.delete(api, name)
        except JsctlError:
            if done:
                env.say(removal.removed(done))
            raise
        done.append(name)
    data: list[dict[str, Any]] = [{"stream": name, "removed": True} for name in done]
    return Result([Text(removal.removed(done))], data=data if len(data) > 1 else data[0])
