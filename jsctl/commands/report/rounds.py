"""`jsctl report --watch`: rounds on a live screen, as text, or as one JSON document on each line."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jsctl.commands.shared.watching import watch, write_json_line
from jsctl.env import Env
from jsctl.monitor.report.overview import Overview
from jsctl.monitor.report.rows import DomainState, Sort
from jsctl.monitor.report.watching import Watch
from jsctl.units import SECOND, exact_duration
from jsctl.views.report import report as view
from jsctl.views.report.panes import Pane
from jsctl.views.result import Result

if TYPE_CHECKING:
    from jsctl.render.screen import Frame

_LATE = 3.0
"""Seconds without an answer that are shown; sooner, what was answered last still stands."""


@dataclass(frozen=True, slots=True)
class Options:
    """interval: seconds between rounds. count: rounds, None for no end."""

    interval: float
    count: int | None
    sort: Sort


def domain_states(overviews: Watch[Overview], interval: float) -> list[DomainState]:
    """Returns what is known of every context and domain."""
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
        for poller in overviews.pollers
    ]


def round_result(env: Env, states: Sequence[DomainState], sort: Sort, *, timed: bool = False) -> Result:
    """Returns one round for stdout. In CSV and TSV there is no place for failures: they go to stderr."""
    if env.form not in ("csv", "tsv"):
        return view.result(states, env.clock(), sort, timed=timed)
    for state in states:
        if state.error:
            env.say(f"jsctl: {view.title(state)}: {state.error}")
        elif state.history:
            for gap in state.history[-1][1].gaps:
                env.say(f"jsctl: {view.title(state)}: {gap}")
    return view.flat(states, env.clock())


async def run(env: Env, overviews: Watch[Overview], options: Options) -> None:
    """Show rounds until the count is reached, ctrl-C or `q`. Without a count, ctrl-C is an ordinary end."""
    every = exact_duration(round(options.interval * SECOND))
    scheme = overviews.pollers[0].settings.colors
    panes: dict[int, tuple[object, Pane]] = {}

    async def rounds() -> AsyncGenerator[list[DomainState], None]:
        updates = overviews.updates if env.has_screen else overviews.rounds
        async for _ in updates(options.interval, options.count):
            yield domain_states(overviews, options.interval)

    def frame(states: list[DomainState]) -> "Frame":
        from jsctl.render.panes import panes_frame

        for at, state in enumerate(states):
            # One answer changes one pane; with 10,000 streams a pane takes a third of a second.
            known = (view.title(state), state.at, state.error)
            if at not in panes or panes[at][0] != known:
                panes[at] = known, view.pane(state, options.sort)
        heading = view.heading(env.clock(), every)
        return panes_frame(heading, [panes[at][1] for at in range(len(states))], scheme)

    def write(states: list[DomainState]) -> None:
        if env.wants_json:
            write_json_line(env, view.document(states, env.clock()))
        else:
            env.emit(round_result(env, states, options.sort, timed=True))

    await watch(env, rounds(), frame=frame, write=write, count=options.count)
