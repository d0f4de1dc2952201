"""`jsctl report --watch`: rounds on a live screen, as text, or as a JSON document a line."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass

from jsctl.commands.report.terminal import guarded
from jsctl.env import Env
from jsctl.monitor.report.overview import Overview
from jsctl.monitor.report.rows import DomainState, Sort
from jsctl.monitor.report.watching import Watch
from jsctl.units import SECOND, exact_duration
from jsctl.views.report import report as view
from jsctl.views.report.panes import Pane
from jsctl.views.result import Result

_TOGETHER = 0.05
"""Seconds in which answers that come one after the other are drawn at once."""


_LATE = 3.0
"""Seconds without an answer that are told; sooner, what was answered last still stands."""


@dataclass(frozen=True, slots=True)
class Options:
    """interval: seconds between rounds. count: rounds, None for ever."""

    interval: float
    count: int | None
    sort: Sort


def states(watch: Watch[Overview], interval: float) -> list[DomainState]:
    """What is known of every context and domain."""
    late = max(_LATE, 1.5 * interval)
    return [
        DomainState(
            poller.context,
            poller.domain,
            poller.where,
            poller.prefix,
            list(poller.history),
            poller.failure,
            poller.at,
            poller.waiting if poller.waiting >= late else 0.0,
        )
        for poller in watch.pollers
    ]


def outcome(env: Env, found: Sequence[DomainState], sort: Sort, *, timed: bool = False) -> Result:
    """One round for stdout. In CSV and TSV there is no place for failures: they go to stderr."""
    if env.form not in ("csv", "tsv"):
        return view.result(found, env.clock(), sort, timed=timed)
    for state in found:
        if state.error:
            env.say(f"jsctl: {view.title(state)}: {state.error}")
    return view.flat(found, env.clock())


async def run(env: Env, watch: Watch[Overview], options: Options) -> None:
    """Rounds until the count is reached or ctrl-C. Without a count, ctrl-C is an ordinary end."""
    live = env.form == "table" and env.is_terminal and env.trace is None
    live = live and env.environ.get("TERM") != "dumb"
    try:
        await (_screen if live else _lines)(env, watch, options)
    except BrokenPipeError:
        env.discard_output()  # jsctl report --watch | head: click would make it a failure
    except asyncio.CancelledError:
        if options.count is not None:
            raise


async def _lines(env: Env, watch: Watch[Overview], options: Options) -> None:
    from jsctl.render.emit import json_text

    async for _ in watch.rounds(options.interval, options.count):
        found = states(watch, options.interval)
        if env.wants_json:
            env.streams.stdout.write(json_text(view.document(found, env.clock()), indent=None) + "\n")
        else:
            env.emit(outcome(env, found, options.sort, timed=True))
        env.streams.stdout.flush()


async def _screen(env: Env, watch: Watch[Overview], options: Options) -> None:
    from jsctl.render.live import LiveScreen

    loop = asyncio.get_running_loop()
    main = asyncio.current_task()
    assert main is not None
    every = exact_duration(round(options.interval * SECOND))
    pending: asyncio.TimerHandle | None = None
    panes: dict[int, tuple[object, Pane]] = {}

    def draw() -> None:
        nonlocal pending
        pending = None
        found = states(watch, options.interval)
        for at, state in enumerate(found):
            # One answer changes one pane; with 10,000 streams a pane takes a third of a second.
            known = (view.title(state), state.at, state.error)
            if at not in panes or panes[at][0] != known:
                panes[at] = known, view.pane(state, options.sort)
        screen.show(view.heading(env.clock(), every), [panes[at][1] for at in range(len(found))])

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
