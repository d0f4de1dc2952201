"""Graphs of numbers over time: samples as charts on a live screen, else as lines or JSON records."""

from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

from jsctl.base.units import SECOND, format_count, format_time, seconds_to_ns
from jsctl.monitor.polling import Sampler, poll_samples
from jsctl.views.board import Board, Live, Query, Start
from jsctl.views.events import End, Events, Presentation, one_by_one
from jsctl.views.result import Chart, ChartStack

S = TypeVar("S")

_SAMPLES = 2000  #: of a graph; more than any terminal has columns


class Curve(NamedTuple):
    """A curve of a graph. name: that of the samples' attribute. label: formats a value at the axis."""

    caption: str
    name: str
    label: Callable[[float], str]


class LineColumn(NamedTuple):
    """A column of the lines of samples. width: cells. name: that of the samples' attribute."""

    title: str
    width: int
    name: str
    form: Callable[[Any], str] = format_count


def draw_curves(drawn: Iterable[Curve], samples: Sequence[Any]) -> list[Chart]:
    """Return a chart for each curve of these samples."""
    return [
        Chart(curve.caption, list(map(attrgetter(curve.name), samples)), label=curve.label) for curve in drawn
    ]


def sample_events(
    sampler: Sampler[S],
    every: int,
    *,
    columns: Sequence[LineColumn],
    record: Callable[[S], dict[str, Any]],
    command: str,
    title: str,
    charts: Callable[[Sequence[S]], Sequence[Chart]],
    count: int | None,
) -> Events[S]:
    """Return samples, one every `every` ns, each with its views.

    columns: of the lines in a pipe, after the time. command, title: of the screen. charts: draws all samples
    so far. count: how many; None for no end.
    """
    history: deque[S] = deque(maxlen=_SAMPLES)
    heading = f"{'Time':<25}" + "".join(f"  {column.title:>{column.width}}" for column in columns)

    def line(sample: Any) -> str:
        texts = [f"  {c.form(getattr(sample, c.name)):>{c.width}}" for c in columns]
        return f"{format_time(seconds_to_ns(sample.at)):<25}{''.join(texts)}\n"

    async def fetch(query: Callable[[], Query]) -> AsyncIterator[Board]:
        history.append(await sampler.take())
        yield Board((), title, picture=ChartStack(charts(history)))

    return Events(
        batches=one_by_one(poll_samples(sampler, every / SECOND)),
        shown=Presentation(record=record, text=line, title=heading),
        end=End(limit=count or 0, noun="sample", endless=True),
        live=Live(fetch, Start(command), every, count or 0),
    )


def format_whole(value: float) -> str:
    """Format a whole number: `1,234`."""
    return format_count(round(value))


def format_rate(value: float) -> str:
    """Format a rate with two decimals: `1,234.50`."""
    return f"{value:,.2f}"
