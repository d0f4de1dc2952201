"""`consumer graph`: the activity of a consumer as lines, JSON records and charts."""

from functools import partial
from typing import Any

from jsctl.base.units import format_rfc3339, seconds_to_ns
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


def events(
    stream: str, consumer: str, sampler: Sampler[ConsumerSample], every: int, count: int | None
) -> Events[ConsumerSample]:
    """Return samples, each with its views. every: ns between two. count: how many; None for no end."""
    return sample_events(
        sampler,
        every,
        columns=_COLUMNS,
        record=partial(record, stream, consumer),
        command="jsctl consumer graph",
        title=f"Consumer Statistics for {stream} > {consumer}",
        charts=partial(draw_curves, CURVES),
        count=count,
    )


def record(stream: str, consumer: str, sample: ConsumerSample) -> dict[str, Any]:
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
