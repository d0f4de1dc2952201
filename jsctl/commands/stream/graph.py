"""`jsctl stream graph`."""

import asyncio
import os
from collections import deque
from collections.abc import AsyncIterator

import click

from jsctl.commands.cli import DURATION, argument, command, option
from jsctl.commands.pick import pick_stream
from jsctl.commands.report.terminal import guarded
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream import activity, streams
from jsctl.jetstream.activity import Sample
from jsctl.units import MS, SECOND
from jsctl.views import graph as view

_KEPT = 2000  #: samples; wider than any terminal


@command("graph", examples=["jsctl stream graph ORDERS", "jsctl stream graph ORDERS --count 60 --json"])
@argument("stream", default="")
@option("--every", type=DURATION, default=SECOND, metavar="DURATION", help="How often to look (1s)")
@option("--count", type=click.IntRange(min=1), metavar="NUMBER", help="End after so many looks")
async def graph(env: Env, stream: str, every: int, count: int | None) -> None:
    """Graph a stream's messages and rates over time.

    Charts on a terminal until ctrl-C or q; in a pipe a line a look, with --json a document a line.
    """
    if every < 100 * MS:
        raise BadInput("--every is too short", "100ms at least")
    if env.form in ("csv", "tsv"):
        raise BadInput("stream graph has no table", "use --json")
    api = await env.jetstream()
    name = await pick_stream(env, api, stream)
    await streams.info(api, name)
    samples = _first(activity.samples(api, name, every / SECOND), count)
    live = env.form == "table" and env.is_terminal and env.trace is None and env.environ.get("TERM") != "dumb"
    try:
        await (_screen if live else _lines)(env, name, samples)
    except asyncio.CancelledError:
        if count is not None:
            raise


async def _first(samples: AsyncIterator[Sample], count: int | None) -> AsyncIterator[Sample]:
    taken = 0
    async for sample in samples:
        yield sample
        taken += 1
        if taken == count:
            return


async def _lines(env: Env, stream: str, samples: AsyncIterator[Sample]) -> None:
    from jsctl.render.emit import json_text

    out = env.streams.stdout
    if not env.wants_json:
        out.write(view.heading() + "\n")
    async for sample in samples:
        line = json_text(view.record(stream, sample), indent=None) if env.wants_json else view.row(sample)
        out.write(line + "\n")
        out.flush()


async def _screen(env: Env, stream: str, samples: AsyncIterator[Sample]) -> None:
    from jsctl.render.live import LiveScreen

    history: deque[Sample] = deque(maxlen=_KEPT)
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
                screen.draw(lambda width, height: view.charts(stream, list(history), width, height))
    finally:
        if ended:
            # The terminal is as it was: end as the signal would have had it.
            os.kill(os.getpid(), ended[0])
