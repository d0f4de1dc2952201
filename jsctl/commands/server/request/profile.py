"""`jsctl server request profile`."""

import base64

import click

from jsctl.commands.cli import argument, command, option
from jsctl.commands.server.request.flags import GROUP, build_server_filter
from jsctl.env import Env
from jsctl.files import naming_write_errors, write_atomically
from jsctl.monitor.server.requests import ping
from jsctl.user_folders import expand_home
from jsctl.views.result import Column, Result, Table

_PROFILES = ("allocs", "heap", "goroutine", "mutex", "threadcreate", "block", "cpu")
_COLUMNS = (Column("Server", "server"), Column("File", "file"), Column("Size", "size", "bytes"))


@command("profile", examples=["jsctl server request profile heap ./profiles"])
@argument("profile", type=click.Choice(_PROFILES))
@argument("folder", metavar="[DIR]", required=False, default=".")
@option("--level", type=click.IntRange(min=0), default=0, help="Debug level of the profile")
async def profile(env: Env, profile: str, folder: str, level: int) -> Result:
    """Write a file for each server, which go tool pprof reads."""
    target_folder = expand_home(folder)
    server_filter = build_server_filter(env.flags.get(GROUP, {}))
    replies = await ping(
        await env.connection(), "PROFILEZ", {"name": profile, "debug": level}, server_filter=server_filter
    )
    rows = []
    with naming_write_errors():
        target_folder.mkdir(parents=True, exist_ok=True)
        for reply in replies:
            data = base64.b64decode((reply.get("data") or {}).get("profile") or "")
            name = "".join(
                char if char.isalnum() or char in "-_." else "_" for char in reply["server"]["name"]
            )
            path = target_folder / f"{profile}-{name}.pprof"
            write_atomically(path, data)
            rows.append((reply["server"]["name"], str(path), len(data)))
    return Result([Table("Profiles", _COLUMNS, rows)])
