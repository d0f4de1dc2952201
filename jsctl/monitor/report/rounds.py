"""Reports in rounds: what is known of every context and domain, once or repeatedly."""

from collections.abc import AsyncGenerator, Sequence
from typing import NamedTuple

from jsctl.contexts.settings import Settings
from jsctl.monitor.report.overview import Overview
from jsctl.monitor.report.rows import DomainState
from jsctl.monitor.report.watching import Clock, Fetch, Trace, Watch, watch
from jsctl.units import SECOND

_LATE = 3.0
"""Seconds without an answer that are shown; sooner, what was answered last still stands."""


class Round(NamedTuple):
    """What is known at one time. completed: rounds that were completed since the one before; on a live screen
    there is one for every answer."""

    states: Sequence[DomainState]
    completed: int


async def fetch_states(
    targets: Sequence[Settings], fetch: Fetch[Overview], *, clock: Clock, trace: Trace | None
) -> list[DomainState]:
    """Ask every context and domain once. Raises nothing that one of them fails with: its state has it."""
    async with watch(targets, fetch, clock=clock, trace=trace) as overviews:
        await overviews.once()
        return domain_states(overviews, 0)


async def poll_states(
    targets: Sequence[Settings],
    fetch: Fetch[Overview],
    *,
    interval: int,
    count: int | None,
    updates: bool,
    clock: Clock,
    trace: Trace | None,
) -> AsyncGenerator[Round, None]:
    """Yield what is known after each round; with `updates` also before the first answer and after each one.

    interval: ns between rounds. count: rounds, None for no end.
    """
    seconds, before = interval / SECOND, 0
    async with watch(targets, fetch, clock=clock, trace=trace) as overviews:
        async for done in (overviews.updates if updates else overviews.rounds)(seconds, count):
            yield Round(domain_states(overviews, seconds), done - before)
            before = done


def domain_states(overviews: Watch[Overview], interval: float) -> list[DomainState]:
    """Return what is known of every context and domain. interval: seconds between rounds."""
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
