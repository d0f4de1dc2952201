"""`jsctl report --watch` on a terminal: the screen with keys."""

from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from jsctl.contexts.settings import Settings
from jsctl.env import Env
from jsctl.errors import JsctlError
from jsctl.monitor.report.pages import fetch_consumer_page, fetch_stream_page
from jsctl.monitor.report.places import Places
from jsctl.monitor.report.spark_queries import SparkQuery
from jsctl.units import SECOND
from jsctl.views.board import Board, Live, Query, Start
from jsctl.views.report import board as view
from jsctl.views.report import pages
from jsctl.views.report.grid_cells import Page
from jsctl.views.result import Result, Text

_SORTS = {"name": "stream", "lag": "lag", "trouble": "trouble"}


class Wanted(NamedTuple):
    """What flags say of the screen. consumers: None where no flag says. rounds: 0 without end."""

    part: str
    filter: str
    sort: str
    problems: bool
    pattern: str
    consumers: bool | None
    interval: int
    rounds: int


def live(
    env: Env,
    targets: Sequence[Settings],
    wanted: Wanted,
    queries: Callable[[], Sequence[SparkQuery] | None],
) -> Live:
    """Return the screen over these contexts and domains. Raises ValueError for a filter that is not valid."""
    part = wanted.part or "streams"

    def shown() -> str:
        return part

    places = Places(
        targets,
        pattern=wanted.pattern,
        with_consumers=wanted.consumers,
        part=shown,
        clock=env.clock,
        trace=env.trace,
    )
    number = 0
    last = Board(())

    async def fetch(query: Callable[[], Query]) -> AsyncIterator[Board]:
        nonlocal part, number, last
        page = query().page
        if isinstance(page, Page):
            yield last._replace(page=await _page(places, page))
            return
        part = query().part or part
        number += 1
        async for known in places.one_round(wanted.interval / SECOND):
            last = view.board(known, env.clock(), number, queries())
            yield last

    start = Start(
        "jsctl report",
        part=part,
        filter=wanted.filter,
        sort=_SORTS.get(wanted.sort, wanted.sort),
        faults=wanted.problems,
    )
    return Live(fetch, start, wanted.interval, wanted.rounds, places.close)


async def _page(places: Places, page: Page) -> Result:
    try:
        if page.consumer:
            request = partial(fetch_consumer_page, stream=page.stream, consumer=page.consumer)
            return pages.consumer_page(await places.ask(page.place, request), _line(places, page))
        of_stream = partial(fetch_stream_page, stream=page.stream)
        return pages.stream_page(await places.ask(page.place, of_stream), _line(places, page))
    except JsctlError as error:
        return Result([Text(str(error), "bad")])


def _line(places: Places, page: Page) -> Any:
    """Return what the report knows of the stream or consumer of a page, None where it does not."""
    tracker = places.trackers[page.place]
    if page.consumer:
        key = (page.stream, page.consumer)
        return next((one for one in tracker.consumers or () if (one.stream, one.consumer) == key), None)
    return next((one for one in tracker.streams or () if one.row.stream == page.stream), None)
