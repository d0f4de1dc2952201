"""`jsctl stream graph`."""

import click

from jsctl.base.units import SECOND
from jsctl.commands.cli import DURATION, argument, command, option
from jsctl.commands.options.watch import check_graph
from jsctl.commands.picking.pick import open_stream
from jsctl.env import Env
from jsctl.jetstream.stream import requests as streams
from jsctl.monitor.stream import activity
from jsctl.monitor.stream.activity import StreamSample
from jsctl.views.events import Events
from jsctl.views.stream import graph as view


@command("graph", examples=["jsctl stream graph ORDERS", "jsctl stream graph ORDERS --count 60 --json"])
@argument("stream", default="")
@option("--every", type=DURATION, default=SECOND, metavar="DURATION", help="Time between two samples (1s)")
@option("--count", type=click.IntRange(min=1), metavar="NUMBER", help="End after this many samples")
async def graph(env: Env, stream: str, every: int, count: int | None) -> Events[StreamSample]:
    """Draw charts on a terminal until ctrl-C or q; --as plain or --json writes a line per sample."""
    check_graph(env, every, count)
    api, name = await open_stream(env, stream)
    await streams.fetch_info(api, name)
    return view.events(name, activity.make_sampler(api, name), every, count)
