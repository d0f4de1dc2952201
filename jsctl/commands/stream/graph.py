"""`jsctl stream graph`."""

from functools import partial
from typing import Any

from jsctl.base.units import format_rfc3339, seconds_to_ns
from jsctl.commands.cli import argument, command
from jsctl.commands.options.watch import check_graph, graph_flags
from jsctl.commands.picking.pick import open_stream
from jsctl.env import Env
from jsctl.jetstream.stream import requests as streams
from jsctl.monitor.polling import Sampler
from jsctl.monitor.stream import activity
from jsctl.monitor.stream.activity import StreamSample
from jsctl.views.events import Events
from jsctl.views.shared.graph import Curve, LineColumn, draw_curves, format_rate, format_whole, sample_events

_COLUMNS = (
    LineColumn("Messages", 15, "messages"),
    LineColumn("Stored/s", 12, "stored", format_rate),
    LineColumn("Removed/s", 12, "removed", format_rate),
)
CURVES = (
    Curve("Messages Stored", "messages", format_whole),
    Curve("Messages Removed / second", "removed", format_rate),
    Curve("Messages Stored / second", "stored", format_rate),
)


def _build_events(
    stream: str, sampler: Sampler[StreamSample], every: int, count: int | None
) -> Events[StreamSample]:
    """Return samples, each with its views. every: ns between two. count: how many; None for no end."""
    return sample_events(
        sampler,
        every,
        columns=_COLUMNS,
        record=partial(_build_record, stream),
        command="jsctl stream graph",
        title=f"Stream Statistics for {stream}",
        charts=partial(draw_curves, CURVES),
        count=count,
    )


def _build_record(stream: str, sample: StreamSample) -> dict[str, Any]:
    """Return a sample in JSON; rates are messages per second."""
    return {
        "stream": stream,
        "at": format_rfc3339(seconds_to_ns(sample.at)),
        "messages": sample.messages,
        "bytes": sample.bytes,
        "stored_rate": round(sample.stored, 3),
        "removed_rate": round(sample.removed, 3),
    }


@command("graph", examples=["jsctl stream graph ORDERS", "jsctl stream graph ORDERS --count 60 --json"])
@argument("stream", default="")
@graph_flags
async def graph(env: Env, stream: str, every: int, count: int | None) -> Events[StreamSample]:
    """Draw charts on a terminal until ctrl-C or q; --as plain or --json writes a line per sample."""
    check_graph(env, every, count)
    api, name = await open_stream(env, stream)
    await streams.fetch_info(api, name)
    return _build_events(name, activity.make_sampler(api, name), every, count)
