"""`jsctl consumer graph`."""

import click

from jsctl.base.units import SECOND
from jsctl.commands.cli import DURATION, argument, command, option
from jsctl.commands.options.watch import check_graph
from jsctl.commands.picking.pick import open_consumer
from jsctl.env import Env
from jsctl.jetstream.consumer import requests as consumers
from jsctl.monitor.consumer import activity
from jsctl.monitor.consumer.activity import ConsumerSample
from jsctl.views.consumer import graph as view
from jsctl.views.events import Events


@command(
    "graph", examples=["jsctl consumer graph ORDERS NEW", "jsctl consumer graph ORDERS NEW --count 60 --json"]
)
@argument("stream", default="")
@argument("consumer", default="")
@option("--every", type=DURATION, default=SECOND, metavar="DURATION", help="Time between two samples (1s)")
@option("--count", type=click.IntRange(min=1), metavar="NUMBER", help="End after this many samples")
async def graph(
    env: Env, stream: str, consumer: str, every: int, count: int | None
) -> Events[ConsumerSample]:
    """Draw charts on a terminal until ctrl-C or q; --as plain or --json writes a line per sample."""
    check_graph(env, every, count)
    api, stream, consumer = await open_consumer(env, stream, consumer)
    await consumers.fetch_info(api, stream, consumer)
    return view.events(stream, consumer, activity.make_sampler(api, stream, consumer), every, count)
