"""`consumer graph`: the activity of a consumer as lines, JSON records and charts."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from jsctl.base.units import format_count, format_rfc3339, format_time, seconds_to_ns
from jsctl.monitor.consumer.activity import ConsumerSample
from jsctl.monitor.polling import Sampler
from jsctl.views.events import Events
from jsctl.views.result import Chart
from jsctl.views.shared.graph import Curve, curves, format_rate, format_whole, sample_events

_HEADING = f"{'Time':<25}  {'Pending':>15}  {'Waiting for Ack':>15}  {'Acked/s':>12}  {'Delivered/s':>12}"
_CURVES = (
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
        heading=_HEADING,
        line=line,
        record=partial(record, stream, consumer),
        command="jsctl consumer graph",
        title=f"Consumer Statistics for {stream} > {consumer}",
        charts=charts,
        count=count,
    )


def line(sample: ConsumerSample) -> str:
    """Return a sample on a line."""
    return (
        f"{format_time(seconds_to_ns(sample.at)):<25}  {format_count(sample.pending):>15}"
        f"  {format_count(sample.unacknowledged):>15}  {format_rate(sample.acknowledged):>12}"
        f"  {format_rate(sample.delivered):>12}"
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


def charts(samples: Sequence[ConsumerSample]) -> list[Chart]:
    """Return messages that are pending and that wait for an ack, and how many per second were acknowledged
    and delivered."""
    return curves(samples, _CURVES)
