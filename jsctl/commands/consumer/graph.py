"""`jsctl consumer graph`."""

from collections.abc import Callable
from functools import partial

from jsctl.commands.cli import argument, command
from jsctl.commands.options.watch import check_graph, graph_flags
from jsctl.commands.picking.pick import open_consumer
from jsctl.env import Env
from jsctl.jetstream.api import Json
from jsctl.jetstream.consumer import requests as consumers
from jsctl.views.events import Events
from jsctl.views.shared.graph import Curve, Sample, format_rate, sample_events


def _read(key: str) -> Callable[[Json], int]:
    return lambda info: int(info.get(key, 0))


def _count(key: str) -> Callable[[Json], int]:
    return lambda info: int(info[key]["consumer_seq"])


CURVES = (
    Curve("num_pending", "Pending", 15, "Messages Pending", _read("num_pending")),
    Curve("num_ack_pending", "Waiting for Ack", 15, "Messages Waiting for Ack", _read("num_ack_pending")),
    Curve(
        *("acknowledged_rate", "Acked/s", 12, "Messages Acknowledged / second"),
        *(_count("ack_floor"), format_rate, True),
    ),
    Curve(
        *("delivered_rate", "Delivered/s", 12, "Messages Delivered / second"),
        *(_count("delivered"), format_rate, True),
    ),
)


@command(
    "graph", examples=["jsctl consumer graph ORDERS NEW", "jsctl consumer graph ORDERS NEW --count 60 --json"]
)
@argument("stream", default="")
@argument("consumer", default="")
@graph_flags
async def graph(env: Env, stream: str, consumer: str, every: int, count: int | None) -> Events[Sample]:
    """Draw charts on a terminal until ctrl-C or q; --as plain or --json writes a line per sample."""
    check_graph(env, every, count)
    api, stream, consumer = await open_consumer(env, stream, consumer)
    fetch = partial(consumers.fetch_info, api, stream, consumer)
    await fetch()
    return sample_events(
        *(fetch, CURVES, every, count),
        about=f"Consumer Statistics for {stream} > {consumer}",
        names={"stream": stream, "consumer": consumer},
        command="jsctl consumer graph",
        columns=CURVES,
        charts=CURVES,
    )
