"""The flags that all verbs of `jsctl server request` take, and the display of the answers.

They may also precede the verb, as in the `nats` tool.
"""

from collections.abc import Callable, Mapping
from typing import Any

import click

from jsctl.commands.cli import argument, declare_all, option
from jsctl.commands.server.report.flags import ARCHIVE, read_archive
from jsctl.env import Env
from jsctl.errors import Denied
from jsctl.monitor.server.requests import Filter, find_refusal, ping, ping_account
from jsctl.views.result import Result
from jsctl.views.server import replies as view

GROUP = "server request"  #: the key of the group's own flags in `Env.flags`

Servers = Mapping[str, Any]
"""Flags that choose servers, by name."""

_FLAGS: tuple[tuple[tuple[str, ...], dict[str, Any]], ...] = (
    (("--limit",), {"type": click.IntRange(min=1), "help": "Maximum number of records per server (2048)"}),
    (("--offset",), {"type": click.IntRange(min=0), "help": "Skip this many records of each server"}),
    (("--name",), {"metavar": "NAME", "help": "Only the server of this name"}),
    (("--host",), {"metavar": "HOST", "help": "Only servers of this host name"}),
    (("--cluster",), {"metavar": "CLUSTER", "help": "Only servers of this cluster"}),
    (
        ("--tags",),
        {"metavar": "TAG", "multiple": True, "help": "Only servers with this tag; may be repeated"},
    ),
    ARCHIVE,
)


group_flags = declare_all(*(option(*names, **attrs) for names, attrs in _FLAGS))
"""Declares the flags for the group itself."""

server_flags = declare_all(*(option(*names, into="servers", **attrs) for names, attrs in _FLAGS))
"""Declares the flags; the verb gets those that were given as `servers`."""


def request_flags(verb: Callable[..., Any]) -> Callable[..., Any]:
    """Declare the flags and [WAIT]; the verb gets them as `servers` and `expect`. What it gets beside them is
    the body of its request: flags have the names of keys.
    """
    return argument("expect", type=click.IntRange(min=1), required=False, metavar="[WAIT]")(
        server_flags(verb)
    )


def build_server_filter(flags: Mapping[str, Any]) -> Filter:
    """Return the filter of servers that the flags of a verb, or of the group, describe."""
    return Filter(
        flags.get("name") or "", flags.get("cluster") or "", flags.get("tags") or (), flags.get("host") or ""
    )


async def request(
    env: Env, endpoint: str, body: Mapping[str, Any], expect: int | None, servers: Servers
) -> Result:
    """Ask all servers for `endpoint` (CONNZ, VARZ, ...). Empty values of `body` are left out. The error of
    the result is what the first server refuses that does.

    servers: the flags of `request_flags`, without those that were not given.
    """
    flags = {**env.flags.get(GROUP, {}), **servers}
    server_filter = build_server_filter(flags)
    if flags.get("archive"):
        pages = {key: flags.get(key) for key in ("limit", "offset")}
        return view.as_sent(read_archive(flags, endpoint, server_filter, {**body, **pages}))
    sent = {key: value for key, value in body.items() if value not in (None, "", False, ())}
    sent |= {"limit": flags.get("limit") or 2048, "offset": flags.get("offset") or 0}
    connection = await env.connection()
    try:
        replies = await ping(
            connection, endpoint, sent, server_filter=server_filter, expect=expect or 0, keeps_refusals=True
        )
    except Denied:
        if endpoint != "CONNZ":
            raise
        replies = await ping_account(connection, endpoint, sent, expect=expect or 0)
    refusals = list(filter(None, map(find_refusal, replies)))
    return view.as_sent(replies)._replace(error=refusals[0] if refusals else None)
