"""Graphs of numbers over time: samples as charts on a live screen, else as lines or JSON records."""

from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, TypeVar

from jsctl.units import format_count
from jsctl.views.events import Events, one_by_one
from jsctl.views.result import Chart, ChartStack

S = TypeVar("S")

_SAMPLES = 2000  #: of a graph; more than any terminal has columns


def sample_events(
    samples: AsyncIterator[S],
    *,
    heading: str,
    line: Callable[[S], str],
    record: Callable[[S], dict[str, Any]],
    title: str,
    charts: Callable[[Sequence[S]], Sequence[Chart]],
    count: int | None,
) -> Events[S]:
    """Return samples, each with its views. heading: the line above those of `line`. charts: draws all samples
    so far. count: how many are wanted, None for no end."""
    history: deque[S] = deque(maxlen=_SAMPLES)

    def picture(sample: S) -> ChartStack:
        history.append(sample)
        return ChartStack(title, charts(history))

    return Events(
        batches=one_by_one(samples),
        record=record,
        text=lambda sample: line(sample) + "\n",
        title=heading,
        picture=picture,
        limit=count or 0,
        noun="sample",
        endless=True,
    )


def format_whole(value: float) -> str:
    """Return `1,234`."""
    return format_count(round(value))


def format_rate(value: float) -> str:
    """Return `1,234.50`."""
    return f"{value:,.2f}"
