"""`jsctl server request connections`."""

from typing import Any

import click

from jsctl.commands.cli import command, option
from jsctl.commands.server.request.flags import Servers, request, request_flags
from jsctl.env import Env
from jsctl.views.result import Result
from jsctl.views.server import replies as view

_STATES = {"open": 0, "closed": 1, "all": 2}
"""Values of the server's ConnState (server/monitor.go)."""


@command(
    "connections",
    examples=[
        "jsctl server request connections",
        "jsctl server request connections --filter-user app --sort bytes_to",
    ],
)
@option(
    "--sort",
    metavar="FIELD",
    default="",
    help="Sort by cid, start, subs, bytes_to, msgs_to, idle, uptime",
)
@option("--subscriptions", is_flag=True, help="Include subscriptions")
@option("--filter-cid", "cid", type=int, metavar="CID", help="Only the connection of this number")
@option(
    "--filter-state",
    "state",
    type=click.Choice(list(_STATES)),
    default="open",
    help="Only connections in this state",
)
@option("--filter-user", metavar="USER", default="", help="Only connections of this user")
@option("--filter-account", "acc", metavar="ACCOUNT", default="", help="Only this account")
@option(
    "--filter-subject",
    metavar="SUBJECT",
    default="",
    help="Only connections that subscribe to this subject",
)
@option("--filter-empty", is_flag=True, help="Leave out servers without such a connection")
@request_flags
async def connections(
    env: Env, expect: int | None, servers: Servers, filter_user: str, filter_empty: bool, **body: Any
) -> Result:
    """End after WAIT answers; without it, wait for all servers."""
    body |= {
        "sort": body["sort"] or "cid",
        "state": _STATES[body["state"]],
        "user": filter_user,
        "auth": True,
    }
    body["subscriptions_detail"] = body["subscriptions"]
    result = await request(env, "CONNZ", body, expect, servers)
    return view.with_connections(result) if filter_empty else result
