"""Reports in rounds: what is known of every context and domain, once or repeatedly."""

from collections.abc import AsyncGenerator, Sequence
from typing import NamedTuple

from jsctl.contexts.settings import Settings
from jsctl.errors import JsctlError, Unreachable
from jsctl.monitor.report.overview import Overview
from jsctl.monitor.report.places import SILENT, WITHOUT_JETSTREAM
from jsctl.monitor.report.round_json import PlaceRound
from jsctl.monitor.report.rows import DomainState
from jsctl.monitor.report.watching import WINDOW, Clock, Fetch, Trace, Watch, watch
from jsctl.units import SECOND

_LATE = 3.0
"""Seconds without an answer that are shown; sooner, what was answered last still stands."""


class Round(NamedTuple):
    """The state of all places at one time. at: of a recorded round, in seconds since 1970; None for now."""

    states: Sequence[DomainState]
    at: float | None = None


class States:
    """The states of places from round to round, with the history that rates need."""

    def __init__(self) -> None:
        self._histories: dict[tuple[str, str], list[tuple[float, Overview]]] = {}

    def take(self, places: Sequence[PlaceRound], at: float, moment: float) -> list[DomainState]:
        """Return the states after a round. at: of the round, in seconds since 1970. moment: the same on a
        clock that does not jump."""
        return [self._state(place, at, moment) for place in places]

    def _state(self, place: PlaceRound, at: float, moment: float) -> DomainState:
        history = self._histories.setdefault((place.context, place.domain), [])
        error = place.error
        if place.answers is not None and place.answers.overview is not None:
            history.append((moment, place.answers.overview))
            del history[:-WINDOW]
        elif place.answers is not None and not history:
            error = error or "the account has no JetStream: its servers are all that is known"
        kind = Unreachable if place.state in (SILENT, WITHOUT_JETSTREAM) else JsctlError
        failure = kind(error) if error else None
        when = at if history else None
        return DomainState(place.context, place.domain, "", "$JS.API", list(history), failure, when)


async def fetch_states(
    targets: Sequence[Settings], fetch: Fetch[Overview], *, clock: Clock, trace: Trace | None
) -> list[DomainState]:
    """Ask every context and domain once. The failure of one is in its state; nothing is raised for it."""
    async with watch(targets, fetch, clock=clock, trace=trace) as overviews:
        await overviews.once()
        return build_domain_states(overviews, 0)


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
            yield Round(build_domain_states(overviews, seconds))


def build_domain_states(overviews: Watch[Overview], interval: float) -> list[DomainState]:
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
