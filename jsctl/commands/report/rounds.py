"""`jsctl report --watch`: rounds on a live screen, as text, or as a JSON document a line."""

import asyncio
import os
from dataclasses import dataclass

from jsctl.commands.report.terminal import guarded
from jsctl.env import Env
from jsctl.jetstream.overview import Overview
from jsctl.jetstream.watch import Watch
from jsctl.units import SECOND, exact_duration
from jsctl.views import report as view

_TOGETHER = 0.05
"""Seconds in which answers that come one after the other are drawn at once."""


@dataclass(frozen=True, slots=True)
class Options:
    """interval: seconds between rounds. count: rounds, None for ever."""

    interval: float
    count: int | None
    sort: view.Sort


def states(watch: Watch[Overview], late: float = 0.0) -> list[view.State]:
    """What is known of every context and domain. late: seconds after which an answer is overdue."""
    return [
        view.State(
            poller.context,
            poller.domain,
            poller.where,
            poller.prefix,
            list(poller.history),
            poller.failure,
            poller.at,
            poller.waiting if late and poller.waiting >= late else 0.0,
        )
        for poller in watch.pollers
    ]


async def run(env: Env, watch: Watch[Overview], options: Options) -> None:
    """Rounds until the count is reached or ctrl-C. Without a count, ctrl-C is an ordinary end."""
    live = env.form == "table" and env.is_terminal and env.trace is None
    live = live and env.environ.get("TERM") != "dumb"
    try:
        await (_screen if live else _lines)(env, watch, options)
    except asyncio.CancelledError:
        if options.count is not None:
            raise


async def _lines(env: Env, watch: Watch[Overview], options: Options) -> None:
    from jsctl.render.emit import json_text

    async for _ in watch.rounds(options.interval, options.count):
        found = states(watch, late=0.9 * options.interval)
        if env.wants_json:
            env.streams.stdout.write(json_text(view.document(found, env.clock()), indent=None) + "\n")
        else:
            env.emit(view.result(found, env.clock(), options.sort, timed=True))
        env.streams.stdout.flush()


async def _screen(env: Env, watch: Watch[Overview], options: Options) -> None:
    from jsctl.render.live import LiveScreen

    loop = asyncio.get_running_loop()
    main = asyncio.current_task()
    assert main is not None
    every = exact_duration(round(options.interval * SECOND))
    pending: asyncio.TimerHandle | None = None

    def draw() -> None:
        nonlocal pending
        pending = None
        # A round that hangs is told after a few seconds, or the screen would flicker with every slow one.
        found = states(watch, late=max(3.0, 1.5 * options.interval))
        screen.show(*view.screen(found, env.clock(), options.sort, every))

    def changed() -> None:
        nonlocal pending
        if pending is None:
            pending = loop.call_later(_TOGETHER, draw)

    ended: list[int] = []
    scheme = watch.pollers[0].settings.colors
    try:
        with LiveScreen(env.streams.stdout, color=env.color, scheme=scheme) as screen:
            draw()
            with guarded(screen, env.streams.stdin, main.cancel) as ended:
                async for _ in watch.rounds(options.interval, options.count, changed):
                    draw()
    finally:
        if pending is not None:
            pending.cancel()
        if ended:
            # The terminal is as it was: end as the signal would have had it.
            os.kill(os.getpid(), ended[0])
