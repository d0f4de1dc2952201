"""Charts of numbers over time, drawn with lines. Pure text."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from jsctl.monitor.consumer.activity import ConsumerSample
from jsctl.monitor.stream.activity import StreamSample
from jsctl.units import format_count, format_rfc3339, format_time, seconds_to_ns
from jsctl.views.result import Text

Chart = tuple[str, Sequence[float], Callable[[float], str]]
"""Caption, values, and how a value is written."""

LEAST = (20, 20)
"""Columns and rows without which no chart can be read."""


def charts(stream: str, history: Sequence[StreamSample], width: int, height: int) -> list[Text]:
    """`stream graph`: messages stored, removed and stored a second, one below the other."""
    parts: list[Chart] = [
        ("Messages Stored", [float(s.messages) for s in history], _whole),
        ("Messages Removed / second", [s.removed for s in history], _decimal),
        ("Messages Stored / second", [s.stored for s in history], _decimal),
    ]
    return _stacked(f"Stream Statistics for {stream}", parts, width, height)


def consumer_charts(name: str, history: Sequence[ConsumerSample], width: int, height: int) -> list[Text]:
    """`consumer graph`: messages before it and unacknowledged, acknowledged and delivered a second."""
    parts: list[Chart] = [
        ("Messages Pending", [float(s.pending) for s in history], _whole),
        ("Messages Waiting for Ack", [float(s.unacknowledged) for s in history], _whole),
        ("Messages Acknowledged / second", [s.acknowledged for s in history], _decimal),
        ("Messages Delivered / second", [s.delivered for s in history], _decimal),
    ]
    return _stacked(f"Consumer Statistics for {name}", parts, width, height)


def _stacked(title: str, charts: Sequence[Chart], width: int, height: int) -> list[Text]:
    if width < LEAST[0] or height < LEAST[1]:
        return [Text("please increase terminal dimensions", "warn")]
    rows = (height - 2) // len(charts) - 3
    lines = [Text(title, "bold"), Text("")]
    for caption, values, label in charts:
        lines += [Text(line) for line in plot(values, width, rows, label)]
        lines += [Text(caption.center(width).rstrip(), "dim"), Text("")]
    return lines


def plot(values: Sequence[float], width: int, height: int, label: Callable[[float], str]) -> list[str]:
    """`height` + 1 lines with an axis from 0 to the largest value; the newest value is at the right."""
    top = max([*values[-width:], 0.0]) or 1.0
    labels = [label(top * row / height) for row in range(height, -1, -1)]
    margin = max(map(len, labels))
    space = max(width - margin - 3, 1)
    levels = [round(value / top * height) for value in values[-space - 1 :]]
    grid = [[" "] * space for _ in range(height + 1)]
    offset = space - max(len(levels) - 1, 0)
    for at, (left, right) in enumerate(pairwise(levels)):
        column = offset + at
        if left == right:
            grid[height - left][column] = "─"
            continue
        up = right > left
        grid[height - right][column] = "╭" if up else "╰"
        grid[height - left][column] = "╯" if up else "╮"
        for level in range(min(left, right) + 1, max(left, right)):
            grid[height - level][column] = "│"
    return [f" {text:>{margin}} ┤{''.join(cells)}".rstrip() for text, cells in zip(labels, grid, strict=True)]


def heading() -> str:
    """The line above `row`."""
    return f"{'Time':<19}  {'Messages':>15}  {'Stored/s':>12}  {'Removed/s':>12}"


def row(sample: StreamSample) -> str:
    """A sample on a line."""
    there = format_time(seconds_to_ns(sample.at))
    return (
        f"{there:<19}  {format_count(sample.messages):>15}  {_decimal(sample.stored):>12}"
        f"  {_decimal(sample.removed):>12}"
    )


def record(stream: str, sample: StreamSample) -> dict[str, Any]:
    """A sample in JSON; rates are messages a second."""
    return {
        "stream": stream,
        "at": format_rfc3339(seconds_to_ns(sample.at)),
        "messages": sample.messages,
        "bytes": sample.bytes,
        "stored_rate": round(sample.stored, 3),
        "removed_rate": round(sample.removed, 3),
    }


def consumer_heading() -> str:
    """The line above `consumer_row`."""
    return f"{'Time':<19}  {'Pending':>15}  {'Waiting for Ack':>15}  {'Acked/s':>12}  {'Delivered/s':>12}"


def consumer_row(sample: ConsumerSample) -> str:
    """A consumer's sample on a line."""
    there = format_time(seconds_to_ns(sample.at))
    return (
        f"{there:<19}  {format_count(sample.pending):>15}  {format_count(sample.unacknowledged):>15}"
        f"  {_decimal(sample.acknowledged):>12}  {_decimal(sample.delivered):>12}"
    )


def consumer_record(stream: str, consumer: str, sample: ConsumerSample) -> dict[str, Any]:
    """A consumer's sample in JSON; rates are messages a second."""
    return {
        "stream": stream,
        "consumer": consumer,
        "at": format_rfc3339(seconds_to_ns(sample.at)),
        "num_pending": sample.pending,
        "num_ack_pending": sample.unacknowledged,
        "acknowledged_rate": round(sample.acknowledged, 3),
        "delivered_rate": round(sample.delivered, 3),
    }


def _whole(value: float) -> str:
    return format_count(round(value))


def _decimal(value: float) -> str:
    return f"{value:,.2f}"
