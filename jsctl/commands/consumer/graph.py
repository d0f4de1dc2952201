"""`jsctl consumer graph`."""

from functools import partial
from typing import Any

from jsctl.base.units import format_rfc3339, seconds_to_ns
from jsctl.commands.cli import argument, command
from jsctl.commands.options.watch import check_graph, graph_flags
from jsctl.commands.picking.pick import open_consumer
from jsctl.env import Env
from jsctl.jetstream.consumer import requests as consumers
from jsctl.monitor.consumer import activity
from jsctl.monitor.consumer.activity import ConsumerSample
from jsctl.monitor.polling import Sampler
from jsctl.views.events import Events
from jsctl.views.shared.graph import Curve, LineColumn, draw_curves, format_rate, format_whole, sample_events

_COLUMNS = (
    LineColumn("Pending", 15, "pending"),
    LineColumn("Waiting for Ack", 15, "unacknowledged"),
    LineColumn("Acked/s", 12, "acknowledged", format_rate),
    LineColumn("Delivered/s", 12, "delivered", format_rate),
)
CURVES = (
    Curve("Messages Pending", "pending", format_whole),
    Curve("Messages Waiting for Ack", "unacknowledged", format_whole),
    Curve("Messages Acknowledged / second", "acknowledged", format_rate),
    Curve("Messages Delivered / second", "delivered", format_rate),
)


def _build_events(
    stream: str, consumer: str, sampler: Sampler[ConsumerSample], every: int, count: int | None
) -> Events[ConsumerSample]:
    """Return samples, each with its views. every: ns between two. count: how many; None for no end."""
    return sample_events(
        sampler,
        every,
        columns=_COLUMNS,
        record=partial(_build_record, stream, consumer),
        command="jsctl consumer graph",
        title=f"Consumer Statistics for {stream} > {consumer}",
        charts=partial(draw_curves, CURVES),
        count=count,
    )


def _build_record(stream: str, consumer: str, sample: ConsumerSample) -> dict[str, Any]:
    """Return a sample in JSON; rates are messages per second."""
    return {
        "stream": stream,
        "consumer": consumer,
        "at": format_rfc3339(seconds_to_ns(sample.at)),
        "num_pending": sample.pending,
        "num_ack_pending": sample.unacknowledged,
        "acknowledged_rate": round(sample.acknowledged, 3),
        "delivered_rate": round(sample.delivered, 3),
    }


@command(
    "graph", examples=["jsctl consumer graph ORDERS NEW", "jsctl consumer graph ORDERS NEW --count 60 --json"]
)
@argument("stream", default="")
@argument("consumer", default="")
@graph_flags
async def graph(
    env: Env, stream: str, consumer: str, every: int, count: int | None
) -> Events[ConsumerSample]:
    """Draw charts on a terminal until ctrl-C or q; --as plain or --json writes a line per sample."""
    check_graph(env, every, count)
    api, stream, consumer = await open_consumer(env, stream, consumer)
    await consumers.fetch_info(api, stream, consumer)
    return _build_events(stream, consumer, activity.make_sampler(api, stream, consumer), every, count)
