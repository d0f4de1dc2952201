"""Graphs of numbers over time: samples as charts on a live screen, else as lines or JSON records."""

import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from jsctl.base.units import SECOND, format_count, format_rfc3339, format_time, seconds_to_ns
from jsctl.errors import Unreachable
from jsctl.jetstream.api import Json
from jsctl.monitor.polling import yield_rounds
from jsctl.views.board import Board, Live, Query, Start
from jsctl.views.events import End, Events, Presentation, one_by_one
from jsctl.views.result import Chart, ChartStack

_SAMPLES = 2000  #: of a graph; more than any terminal has columns


def format_whole(value: float) -> str:
    """Format a whole number: `1,234`."""
    return format_count(round(value))


def format_rate(value: float) -> str:
    """Format a rate with two decimals: `1,234.50`."""
    return f"{value:,.2f}"


class Curve(NamedTuple):
    """A number of one thing over time.

    key: its name in JSON. title, width: of its column where samples are lines; the width in cells. caption:
    of its chart. read: returns it from the thing's info; that of a rate returns a counter, whose increase per
    second is the number. increase: of a rate without such a counter: of an info and the one before.
    """

    key: str
    title: str
    width: int
    caption: str
    read: Callable[[Json], float]
    form: Callable[[float], str] = format_whole
    is_rate: bool = False
    increase: Callable[[Json, Json], float] | None = None

    def measure(self, info: Json, previous: Json | None, span: float) -> float:
        """Return the number. span: seconds since the previous info; the rate of a first one is 0, as is that
        of a counter that is lower than before: the thing was created or started again."""
        if not self.is_rate:
            return self.read(info)
        if previous is None:
            return 0.0
        increase = self.increase(info, previous) if self.increase else self.read(info) - self.read(previous)
        return max(0, increase) / span


class Sample(NamedTuple):
    """The numbers of a thing, by key, at a time in seconds since 1970."""

    at: float
    values: Mapping[str, float]


class _Sampler:
    """A source of samples."""

    def __init__(self, fetch: Callable[[], Awaitable[Json]], curves: Sequence[Curve]) -> None:
        self._fetch = fetch
        self._curves = curves
        self._previous: Json | None = None
        self._time = 0.0

    async def take(self) -> Sample:
        """Return a sample of this moment. Raises what `fetch` raises."""
        info, now = await self._fetch(), time.monotonic()
        span = max(now - self._time, 1e-6)
        values = {curve.key: curve.measure(info, self._previous, span) for curve in self._curves}
        self._previous, self._time = info, now
        return Sample(time.time(), values)

    async def poll(self, interval: float) -> AsyncIterator[Sample]:
        """Yield a sample every `interval` seconds, the first at once; none while there is no answer. Raises
        what `fetch` raises, of Unreachable the first."""
        async for _ in yield_rounds(interval):
            try:
                sample = await self.take()
            except Unreachable:
                if self._previous is None:
                    raise
            else:
                yield sample


def draw_curves(curves: Iterable[Curve], samples: Sequence[Sample]) -> list[Chart]:
    """Return a chart for each curve of these samples."""
    return [
        Chart(curve.caption, [sample.values[curve.key] for sample in samples], label=curve.form)
        for curve in curves
    ]


def sample_events(
    fetch: Callable[[], Awaitable[Json]],
    curves: Sequence[Curve],
    every: int,
    count: int | None,
    *,
    about: str,
    names: Mapping[str, str],
    command: str,
    columns: Sequence[Curve],
    charts: Sequence[Curve],
    record: Callable[[Mapping[str, Any]], Json] = dict,
) -> Events[Sample]:
    """Return samples of what `fetch` returns, one every `every` ns, each with its views.

    count: how many; None for no end. about, names: what they are of, as a title and in JSON. columns: of the
    lines in a pipe, after the time. charts: on the screen. record: makes JSON of the values of all curves.
    """
    sampler = _Sampler(fetch, curves)
    history: deque[Sample] = deque(maxlen=_SAMPLES)
    heading = f"{'Time':<25}" + "".join(f"  {column.title:>{column.width}}" for column in columns)

    def line(sample: Sample) -> str:
        texts = [f"  {column.form(sample.values[column.key]):>{column.width}}" for column in columns]
        return f"{format_time(seconds_to_ns(sample.at)):<25}{''.join(texts)}\n"

    def to_json(sample: Sample) -> Json:
        values = {key: round(value, 3) for key, value in sample.values.items()}
        return {**names, "at": format_rfc3339(seconds_to_ns(sample.at)), **record(values)}

    async def fetch_board(query: Callable[[], Query]) -> AsyncIterator[Board]:
        history.append(await sampler.take())
        yield Board((), about, picture=ChartStack(draw_curves(charts, history)))

    return Events(
        batches=one_by_one(sampler.poll(every / SECOND)),
        shown=Presentation(record=to_json, text=line, title=heading),
        end=End(limit=count or 0, noun="sample", endless=True),
        live=Live(fetch_board, Start(command), every, count or 0),
    )
