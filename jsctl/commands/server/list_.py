"""`jsctl server list`."""

import click

from jsctl.commands.cli import argument, command, option
from jsctl.env import Env
from jsctl.errors import ExitStatus
from jsctl.monitor.server.list_ import fetch_servers
from jsctl.views.result import Result
from jsctl.views.server import server_list as view


@command("list", examples=["jsctl server list --context system", "jsctl server list 9 --sort name"])
@argument("expect", type=click.IntRange(min=1), required=False)
@option("--sort", "order", type=click.Choice(list(view.SORTS)), default="rtt", help="Sort by this")
@option("--reverse", "-R", is_flag=True, help="Largest first")
@option("--compact/--no-compact", default=True, help="Leave out the common end of the server names")
async def list_(env: Env, expect: int | None, order: str, reverse: bool, compact: bool) -> Result:
    """Needs a login of the system account.

    EXPECT is the number of servers to wait for; fewer are a failure.
    """
    replies = await fetch_servers(await env.connection(), expect or 0)
    result = view.listing(replies, env.clock(), order=order, reverse=reverse, compact=compact)
    if expect and len(replies) < expect:
        env.say(f"{len(replies)} of {expect} servers replied")
        return result._replace(status=ExitStatus.FAILURE)
    return result
