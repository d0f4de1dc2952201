"""The flags that the reports on servers share, and how a report is repeated."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from jsctl.commands.cli import DURATION, argument, option
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.monitor.polling import fetch_again
from jsctl.monitor.server.requests import Filter, ping
from jsctl.units import MS
from jsctl.views.events import Events, repeated
from jsctl.views.result import Result

Json = dict[str, Any]
Flags = Mapping[str, Any]
Report = Result | Events[Result]


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
    if watch is not None and watch < 100 * MS:
        raise BadInput("--watch takes 100ms or more")
    connection = await env.connection()
    only = Filter(servers.get("host") or "", servers.get("cluster") or "", servers.get("tags") or ())

    async def fetch() -> Result:
        return view(await ping(connection, what, body, only=only, expect=limit or 0))

    return await fetch() if watch is None else repeated(fetch_again(fetch, watch))


def is_reversed(env: Env) -> bool:
    """Whether --reverse stands before the report."""
    return bool(env.flags.get("reverse"))
