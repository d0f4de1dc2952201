"""`jsctl server ping`."""

import click

from jsctl.base.units import MS, pluralize
from jsctl.commands.cli import argument, command, option
from jsctl.env import Env
from jsctl.errors import ExitStatus
from jsctl.monitor.server.requests import fetch_servers
from jsctl.views.result import Chart, Result
from jsctl.views.server import info as view


@command("ping", columns=view.PING_ID, examples=["jsctl server ping", "jsctl server ping 9 --graph"])
@argument("expect", type=click.IntRange(min=1), required=False)
@option("--graph", is_flag=True, help="Plot the response times")
@option("--id", "with_ids", is_flag=True, help="Show the IDs of the servers")
async def ping(env: Env, expect: int | None, graph: bool, with_ids: bool) -> Result:
    """Ping all servers, and fail if fewer than EXPECT answer. A login of the system account is needed."""
    answers = await fetch_servers(await env.connection(), expect or 0)
    result = view.ping(answers, with_ids=with_ids)
    if graph:
        chart = Chart("round-trip times of the servers in ms", [rtt / MS for _, rtt in answers])
        result = result._replace(parts=[*result.parts, chart])
    if expect and len(answers) < expect:
        env.say(f"{len(answers)} of {pluralize(expect, 'server')} answered")
        return result._replace(status=ExitStatus.FAILURE)
    return result
