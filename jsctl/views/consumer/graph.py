"""`consumer graph`: the activity of a consumer as lines, JSON records and charts."""

from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Any

from jsctl.monitor.consumer.activity import ConsumerSample
from jsctl.units import format_count, format_rfc3339, format_time, seconds_to_ns
from jsctl.views.events import Events
from jsctl.views.result import Chart
from jsctl.views.shared.graph import format_rate, format_whole, sample_events

_HEADING = f"{'Time':<25}  {'Pending':>15}  {'Waiting for Ack':>15}  {'Acked/s':>12}  {'Delivered/s':>12}"


def events(
    stream: str, consumer: str, samples: AsyncIterator[ConsumerSample], count: int | None
) -> Events[ConsumerSample]:
    """Return samples, each with its views. count: how many are wanted, None for no end."""
    return sample_events(
        samples,
        heading=_HEADING,
        line=line,
        record=partial(record, stream, consumer),
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
    return [
        Chart("Messages Pending", [one.pending for one in samples], label=format_whole),
        Chart("Messages Waiting for Ack", [one.unacknowledged for one in samples], label=format_whole),
        Chart(
            "Messages Acknowledged / second", [sample.acknowledged for sample in samples], label=format_rate
        ),
        Chart("Messages Delivered / second", [one.delivered for one in samples], label=format_rate),
    ]
