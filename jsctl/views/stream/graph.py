"""`stream graph`: the activity of a stream as lines, JSON records and charts."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from jsctl.base.units import format_count, format_rfc3339, format_time, seconds_to_ns
from jsctl.monitor.polling import Sampler
from jsctl.monitor.stream.activity import StreamSample
from jsctl.views.events import Events
from jsctl.views.result import Chart
from jsctl.views.shared.graph import Curve, curves, format_rate, format_whole, sample_events

_HEADING = f"{'Time':<25}  {'Messages':>15}  {'Stored/s':>12}  {'Removed/s':>12}"
_CURVES = (
    Curve("Messages Stored", "messages", format_whole),
    Curve("Messages Removed / second", "removed", format_rate),
    Curve("Messages Stored / second", "stored", format_rate),
)


def events(
    stream: str, sampler: Sampler[StreamSample], every: int, count: int | None
) -> Events[StreamSample]:
    """Return samples, each with its views. every: ns between two. count: how many; None for no end."""
    return sample_events(
        sampler,
        every,
        heading=_HEADING,
        line=line,
        record=partial(record, stream),
        command="jsctl stream graph",
        title=f"Stream Statistics for {stream}",
        charts=charts,
        count=count,
    )


def line(sample: StreamSample) -> str:
    """Return a sample on a line."""
    return (
        f"{format_time(seconds_to_ns(sample.at)):<25}  {format_count(sample.messages):>15}"
        f"  {format_rate(sample.stored):>12}  {format_rate(sample.removed):>12}"
    )


def record(stream: str, sample: StreamSample) -> dict[str, Any]:
    """Return a sample in JSON; rates are messages per second."""
    return {
        "stream": stream,
        "at": format_rfc3339(seconds_to_ns(sample.at)),
        "messages": sample.messages,
        "bytes": sample.bytes,
        "stored_rate": round(sample.stored, 3),
        "removed_rate": round(sample.removed, 3),
    }


def charts(samples: Sequence[StreamSample]) -> list[Chart]:
    """Return messages stored, and how many per second were removed and stored."""
    return curves(samples, _CURVES)
