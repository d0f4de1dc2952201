"""The flags that the reports on servers share, and the repetition of a report."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import argument, option
from jsctl.commands.options.watch import WATCH, Report, check_interval, fetch_or_watch
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.monitor.server.requests import Filter, ping
from jsctl.views.result import Result

Json = dict[str, Any]
Flags = Mapping[str, Any]

ARCHIVE: tuple[tuple[str], dict[str, Any]] = (
    ("--archive",),
    {"metavar": "FILE", "help": "Read an archive of jsctl audit gather instead of asking servers"},
)

ROWS: tuple[tuple[str, str], dict[str, Any]] = (
    ("--rows", "with_rows"),
    {"is_flag": True, "help": "With --json, write a list of rows instead of an object by server"},
)


def report_flags(verb: Callable[..., Any]) -> Callable[..., Any]:
    """Declare [LIMIT], the flags that choose servers, and --watch: the verb gets `limit` and `servers`."""
    for names, attrs in reversed(
        (
            (("--host",), {"metavar": "NAME", "help": "Only this server"}),
            (("--cluster",), {"metavar": "CLUSTER", "help": "Only servers of this cluster"}),
            (
                ("--tags",),
                {"metavar": "TAG", "multiple": True, "help": "Only servers with this tag; may be repeated"},
            ),
            WATCH,
            ARCHIVE,
        )
    ):
        verb = option(*names, into="servers", **attrs)(verb)
    return argument("limit", type=click.IntRange(min=1), required=False)(verb)


async def report(
    env: Env,
    endpoint: str,
    body: Json,
    limit: int | None,
    servers: Flags,
    view: Callable[[Sequence[Json]], Result],
) -> Report:
    """Ask all servers for `endpoint` (CONNZ, ...), once or every --watch. limit: how many answers to wait
    for.

    servers: the flags of `report_flags` that were given. view: turns the answers into a result.
    """
    watch = servers.get("watch")
    check_interval(watch)
    server_filter = build_server_filter(servers)
    if servers.get("archive"):
        return view(read_archive(servers, endpoint, server_filter))
    connection = await env.connection()

    async def fetch() -> Result:
        return view(await ping(connection, endpoint, body, server_filter=server_filter, expect=limit or 0))

    return await fetch_or_watch(fetch, watch)


def read_archive(flags: Flags, endpoint: str, server_filter: Filter) -> list[Json]:
    """Return the answers to `endpoint` (CONNZ, ...) in the archive that the flags name. Raises BadInput."""
    from jsctl.monitor.audit.archive import Archive
    from jsctl.monitor.audit.replay import read_archived

    if flags.get("watch") is not None:
        raise BadInput("--archive and --watch cannot be used together", "an archive does not change")
    with Archive(str(expand_home(flags["archive"]))) as archive:
        return read_archived(archive, endpoint, server_filter)


def build_server_filter(servers: Flags) -> Filter:
    """Return the filter of servers that the flags describe."""
    return Filter(servers.get("host") or "", servers.get("cluster") or "", servers.get("tags") or ())


def is_reversed(env: Env) -> bool:
    """Return whether --reverse is given."""
    return bool(env.flags.get("reverse"))
