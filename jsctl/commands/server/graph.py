"""`jsctl server graph`."""

import click

from jsctl.base.units import SECOND
from jsctl.commands.cli import DURATION, argument, command, option
from jsctl.commands.options.watch import check_graph
from jsctl.env import Env
from jsctl.monitor.server.activity import ServerSample, make_sampler
from jsctl.monitor.server.find import find_server
from jsctl.views.events import Events
from jsctl.views.server import graph as view


@command(
    "graph",
    examples=[
        "jsctl server graph n1",
        "jsctl server graph n1 --jetstream",
        "jsctl server graph n1 --count 60 --json",
    ],
)
@argument("name", metavar="SERVER")
@option("--jetstream", "-j", is_flag=True, help="Draw the charts of JetStream")
@option("--every", type=DURATION, default=SECOND, metavar="DURATION", help="Time between two samples (1s)")
@option("--count", type=click.IntRange(min=1), metavar="NUMBER", help="End after this many samples")
async def graph(env: Env, name: str, jetstream: bool, every: int, count: int | None) -> Events[ServerSample]:
    """Draw charts on a terminal until ctrl-C or q; --as plain or --json writes a line per sample.
    SERVER is a name or an ID. A login of the system account is needed.
    """
    check_graph(env, every, count)
    connection = await env.connection()
    server = (await find_server(connection, name))["server"]
    return view.events(
        server["name"], make_sampler(connection, server), every, jetstream=jetstream, count=count
    )
