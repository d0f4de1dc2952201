"""`stream graph`: the activity of a stream as lines, JSON records and charts."""

from functools import partial
from typing import Any

from jsctl.base.units import format_rfc3339, seconds_to_ns
from jsctl.monitor.polling import Sampler
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


def events(
    stream: str, sampler: Sampler[StreamSample], every: int, count: int | None
) -> Events[StreamSample]:
    """Return samples, each with its views. every: ns between two. count: how many; None for no end."""
    return sample_events(
        sampler,
        every,
        columns=_COLUMNS,
        record=partial(record, stream),
        command="jsctl stream graph",
        title=f"Stream Statistics for {stream}",
        charts=partial(draw_curves, CURVES),
        count=count,
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
