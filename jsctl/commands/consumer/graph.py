"""`jsctl consumer graph`."""

import click

from jsctl.commands.cli import DURATION, argument, command, option
from jsctl.commands.shared.graphing import Picture, check, draw
from jsctl.commands.shared.pick import pick_consumer
from jsctl.env import Env
from jsctl.jetstream.consumer import requests as consumers
from jsctl.monitor.consumer import activity
from jsctl.units import SECOND
from jsctl.views import graph as view


@command(
    "graph", examples=["jsctl consumer graph ORDERS NEW", "jsctl consumer graph ORDERS NEW --count 60 --json"]
)
@argument("stream", default="")
@argument("consumer", default="")
@option("--every", type=DURATION, default=SECOND, metavar="DURATION", help="How often to look (1s)")
@option("--count", type=click.IntRange(min=1), metavar="NUMBER", help="End after so many looks")
async def graph(env: Env, stream: str, consumer: str, every: int, count: int | None) -> None:
    """Charts on a terminal until ctrl-C or q; in a pipe a line a look, with --json a document a line."""
    check(env, every)
    api = await env.jetstream()
    stream, consumer = await pick_consumer(env, api, stream, consumer)
    await consumers.info(api, stream, consumer)
    picture = Picture(
        view.consumer_heading(),
        view.consumer_row,
        lambda sample: view.consumer_record(stream, consumer, sample),
        lambda history, width, height: view.consumer_charts(f"{stream} > {consumer}", history, width, height),
    )
    samples = activity.samples(api, stream, consumer, every / SECOND)
    await draw(env, samples, picture, count)
