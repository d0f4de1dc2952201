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
    """What is known at one time. at: of a recorded round, in seconds since 1970; None for now."""

    states: Sequence[DomainState]
    at: float | None = None


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
    clock: Clock,
    trace: Trace | None,
) -> AsyncGenerator[Round, None]:
    """Yield what is known after each round. interval: ns between rounds. count: rounds, None for no end."""
    seconds = interval / SECOND
    async with watch(targets, fetch, clock=clock, trace=trace) as overviews:
        async for _ in overviews.rounds(seconds, count):
            yield Round(domain_states(overviews, seconds))


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
