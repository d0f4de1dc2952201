"""Numbers over time: charts on a terminal, lines in a pipe. For `stream graph` and `consumer graph`."""

import asyncio
import os
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from jsctl.commands.report.terminal import guarded
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.units import MS
from jsctl.views.result import Text

S = TypeVar("S")

_KEPT = 2000  #: samples; wider than any terminal


@dataclass(frozen=True, slots=True)
class Picture(Generic[S]):
    """How samples are shown: a line each below a heading, a JSON record each, or charts of all."""

    heading: str
    row: Callable[[S], str]
    record: Callable[[S], dict[str, Any]]
    charts: Callable[[Sequence[S], int, int], list[Text]]


def check(env: Env, every: int) -> None:
    """Raises BadInput for what cannot be drawn. every: ns between two samples."""
    if every < 100 * MS:
        raise BadInput("--every is too short", "100ms at least")
    if env.form in ("csv", "tsv"):
        raise BadInput("a graph has no table", "use --json")


async def draw(env: Env, samples: AsyncIterator[S], picture: Picture[S], count: int | None) -> None:
    """Show samples until ctrl-C or q, or until there were `count`."""
    live = env.form == "table" and env.is_terminal and env.trace is None and env.environ.get("TERM") != "dumb"
    try:
        await (_screen if live else _lines)(env, _first(samples, count), picture)
    except asyncio.CancelledError:
        if count is not None:
            raise


async def _first(samples: AsyncIterator[S], count: int | None) -> AsyncIterator[S]:
    taken = 0
    async for sample in samples:
        yield sample
        taken += 1
        if taken == count:
            return


async def _lines(env: Env, samples: AsyncIterator[S], picture: Picture[S]) -> None:
    from jsctl.render.emit import json_text

    out = env.streams.stdout
    if not env.wants_json:
        out.write(picture.heading + "\n")
    async for sample in samples:
        line = json_text(picture.record(sample), indent=None) if env.wants_json else picture.row(sample)
        out.write(line + "\n")
        out.flush()


async def _screen(env: Env, samples: AsyncIterator[S], picture: Picture[S]) -> None:
    from jsctl.render.live import LiveScreen

    history: deque[S] = deque(maxlen=_KEPT)
    main = asyncio.current_task()
    assert main is not None
    ended: list[int] = []
    try:
        with (
            LiveScreen(env.streams.stdout, color=env.color) as screen,
            guarded(screen, env.streams.stdin, main.cancel) as ended,
        ):
            async for sample in samples:
                history.append(sample)
                screen.draw(lambda width, height: picture.charts(list(history), width, height))
    finally:
        if ended:
            # The terminal is as it was: end as the signal would have had it.
            os.kill(os.getpid(), ended[0])
