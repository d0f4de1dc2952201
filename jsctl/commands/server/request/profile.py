"""`jsctl server request profile`."""

import base64
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import chain, count
from pathlib import Path
from typing import Any

import click

from jsctl.base.files import naming_write_errors, write_atomically
from jsctl.base.units import SECOND
from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import argument, command, option
from jsctl.commands.server.request.flags import GROUP, Servers, build_server_filter, server_flags
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.monitor.audit.archive import Archive
from jsctl.monitor.audit.replay import read_archived_profiles
from jsctl.monitor.server.requests import ping
from jsctl.views.result import Column, Result, Table

_PROFILES = ("allocs", "heap", "goroutine", "mutex", "threadcreate", "block", "cpu")
_COLUMNS = (Column("Server", "server"), Column("File", "file"), Column("Size", "size", "bytes"))


@command(
    "profile",
    examples=[
        "jsctl server request profile heap ./profiles",
        "jsctl server request profile cpu --timeout 10s",
    ],
)
@argument("profile", type=click.Choice(_PROFILES))
@argument("folder", metavar="[DIR]", required=False, default=".")
@option("--level", type=click.IntRange(min=0), default=0, help="Debug level of the profile")
@server_flags
async def profile(env: Env, profile: str, folder: str, level: int, servers: Servers) -> Result:
    """Write a file for each server, which go tool pprof reads; the time is in its name. A cpu profile takes
    as long as --timeout.
    """
    flags = {**env.flags.get(GROUP, {}), **servers}
    server_filter = build_server_filter(flags)
    failures: list[str] = []
    if flags.get("archive"):
        with Archive(str(expand_home(flags["archive"]))) as archive:
            profiles = read_archived_profiles(archive, profile, level, server_filter)
    else:
        profiles = []
        connection = await env.connection()
        body, timeout = {"name": profile, "debug": level}, connection.settings.timeout
        if profile == "cpu":
            body["duration"] = timeout
            timeout += 2 * SECOND
        for reply in await ping(connection, "PROFILEZ", body, server_filter=server_filter, timeout=timeout):
            name, data = str(reply["server"]["name"]), reply.get("data") or {}
            try:
                profiles.append((name, _decode_profile(data)))
            except ValueError as fault:
                failures.append(f"server {name} has no profile: {fault}")
    rows = _write_profiles(profiles, expand_home(folder), profile, datetime.fromtimestamp(env.clock()))
    error = JsctlError("; ".join(failures)) if failures else None
    return Result([Table("Profiles", _COLUMNS, rows)], error=error)


def _decode_profile(data: Mapping[str, Any]) -> bytes:
    """Return the profile in an answer. Raises ValueError with the reason why there is none."""
    if data.get("error"):
        raise ValueError(str(data["error"]))
    if not isinstance(data.get("profile"), str):
        raise ValueError("the answer holds none")
    return base64.b64decode(data["profile"])


def _write_profiles(
    profiles: Sequence[tuple[str, bytes]], folder: Path, kind: str, now: datetime
) -> list[tuple[str, str, int]]:
    """Write a file for each profile, beside those of earlier runs. Returns a row of each."""
    rows = []
    with naming_write_errors():
        folder.mkdir(parents=True, exist_ok=True)
        for server, data in profiles:
            name = "".join(char if char.isalnum() or char in "-_." else "_" for char in server)
            stem = f"{kind}-{now:%Y%m%d-%H%M%S}-{name}"
            numbered = (f"{stem}-{number}" for number in count(2))
            paths = (folder / one for one in chain([stem], numbered))
            path = next(path for path in paths if not path.exists())
            write_atomically(path, data, mode=None)
            rows.append((server, str(path), len(data)))
    return rows
