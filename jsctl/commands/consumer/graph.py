"""`jsctl consumer graph`."""

from functools import partial

import click

from jsctl.commands.cli import DURATION, argument, command, option
from jsctl.commands.shared.pick import pick_consumer
from jsctl.commands.shared.watching import check_graph, watch_graph
from jsctl.env import Env
from jsctl.jetstream.consumer import requests as consumers
from jsctl.monitor.consumer import activity
from jsctl.units import SECOND
from jsctl.views.consumer import graph as view


@command(
    "graph", examples=["jsctl consumer graph ORDERS NEW", "jsctl consumer graph ORDERS NEW --count 60 --json"]
)
@argument("stream", default="")
@argument("consumer", default="")
@option("--every", type=DURATION, default=SECOND, metavar="DURATION", help="How often to look (1s)")
@option("--count", type=click.IntRange(min=1), metavar="NUMBER", help="End after this many samples")
async def graph(env: Env, stream: str, consumer: str, every: int, count: int | None) -> None:
    """Charts on a terminal until ctrl-C or q; in a pipe a line for each sample, with --json a document a
    line."""
    check_graph(env, every)
    api = await env.jetstream()
    stream, consumer = await pick_consumer(env, api, stream, consumer)
    await consumers.info(api, stream, consumer)
    await watch_graph(
        env,
        activity.samples(api, stream, consumer, every / SECOND),
        heading=view.HEADING,
        line=view.line,
        record=partial(view.record, stream, consumer),
        title=f"Consumer Statistics for {stream} > {consumer}",
        charts=view.charts,
        count=count,
    )
