"""The flags that the reports on servers share, and the repetition of a report."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import click

from jsctl.base.user_folders import expand_home
from jsctl.commands.cli import argument, declare_all, option
from jsctl.commands.options.watch import WATCH, Report, check_interval, fetch_or_watch
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.monitor.server.requests import Filter, ping
from jsctl.nats.connection import Connection
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


_server_option = partial(option, into="servers")

report_flags = declare_all(
    argument("limit", type=click.IntRange(min=1), required=False),
    _server_option("--host", metavar="NAME", help="Only this server"),
    _server_option("--cluster", metavar="CLUSTER", help="Only servers of this cluster"),
    _server_option(
        "--tags", metavar="TAG", multiple=True, help="Only servers with this tag; may be repeated"
    ),
    _server_option(*WATCH[0], **WATCH[1]),
    _server_option(*ARCHIVE[0], **ARCHIVE[1]),
)
"""Declares [LIMIT], the flags that choose servers, and --watch: the verb gets `limit` and `servers`."""


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

    def ask(connection: Connection) -> Awaitable[list[Json]]:
        server_filter = build_server_filter(servers)
        return ping(connection, endpoint, body, server_filter=server_filter, expect=limit or 0)

    filters = {key: value for key, value in body.items() if key != "limit"}
    return await report_answers(env, endpoint, servers, ask, view, filters)


async def report_answers(
    env: Env,
    endpoint: str,
    servers: Flags,
    ask: Callable[[Connection], Awaitable[Sequence[Json]]],
    view: Callable[[Sequence[Json]], Result],
    filters: Mapping[str, Any] = MappingProxyType({}),
) -> Report:
    """Show the answers of servers to `endpoint`, or those in an archive, once or every --watch. servers,
    view: see `report`. ask: asks the servers. filters: what it asks them to leave out."""
    watch = servers.get("watch")
    check_interval(watch)
    if servers.get("archive"):
        return view(read_archive(servers, endpoint, build_server_filter(servers), filters))
    connection = await env.connection()

    async def fetch() -> Result:
        return view(await ask(connection))

    return await fetch_or_watch(fetch, watch)


def read_archive(
    flags: Flags, endpoint: str, server_filter: Filter, body: Mapping[str, Any] | None = None
) -> list[Json]:
    """Return the answers to `endpoint` (CONNZ, ...) in the archive that the flags name. body: see
    `read_archived`. Raises BadInput."""
    from jsctl.monitor.audit.archive import Archive
    from jsctl.monitor.audit.replay import read_archived

    if flags.get("watch") is not None:
        raise BadInput("--archive and --watch cannot be used together", "an archive does not change")
    with Archive(str(expand_home(flags["archive"]))) as archive:
        return read_archived(archive, endpoint, server_filter, body)


def build_server_filter(servers: Flags) -> Filter:
    """Return the filter of servers that the flags describe."""
    return Filter(servers.get("host") or "", servers.get("cluster") or "", servers.get("tags") or ())


def is_reversed(env: Env) -> bool:
    """Return whether --reverse is given."""
    return bool(env.flags.get("reverse"))
