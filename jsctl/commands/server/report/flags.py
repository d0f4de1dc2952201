"""The flags that the reports on servers share, and how a report is repeated."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from jsctl.commands.cli import DURATION, argument, option
from jsctl.commands.shared.watch import Report, check_interval, once_or_repeated
from jsctl.env import Env
from jsctl.monitor.server.requests import Filter, ping
from jsctl.views.result import Result

Json = dict[str, Any]
Flags = Mapping[str, Any]


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
            (
                ("--watch",),
                {
                    "type": DURATION,
                    "metavar": "INTERVAL",
                    "help": "Repeat it every INTERVAL until ctrl-C or q",
                },
            ),
        )
    ):
        verb = option(*names, into="servers", **attrs)(verb)
    return argument("limit", type=click.IntRange(min=1), required=False)(verb)


async def report(
    env: Env,
    what: str,
    body: Json,
    limit: int | None,
    servers: Flags,
    view: Callable[[Sequence[Json]], Result],
) -> Report:
    """Ask all servers for `what` (CONNZ, ...), once or every --watch. limit: how many answers to wait for.

    servers: the flags of `report_flags` that were given. view: from the answers to what is shown.
    """
    watch = servers.get("watch")
    check_interval(watch)
    connection = await env.connection()
    only = server_filter(servers)

    async def fetch() -> Result:
        return view(await ping(connection, what, body, only=only, expect=limit or 0))

    return await once_or_repeated(fetch, watch)


def server_filter(servers: Flags) -> Filter:
    """Return which servers the flags choose."""
    return Filter(servers.get("host") or "", servers.get("cluster") or "", servers.get("tags") or ())


def is_reversed(env: Env) -> bool:
    """Whether --reverse stands before the report."""
    return bool(env.flags.get("reverse"))
