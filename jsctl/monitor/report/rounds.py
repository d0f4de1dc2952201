"""Reports in rounds: the states of all contexts and domains, once or repeatedly."""

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

_LATE_AFTER = 3.0
"""Seconds without an answer after which the report says so; until then the last answer is shown."""


class Round(NamedTuple):
    """The state of all places at a given time. at: of a recorded round, in seconds since 1970; None for
    now."""

    states: Sequence[DomainState]
    at: float | None = None


class States:
    """The states of places from round to round, with the history that rates need."""

    def __init__(self) -> None:
        self._histories: dict[tuple[str, str], list[tuple[float, Overview]]] = {}

    def add_round(self, places: Sequence[PlaceRound], at: float, steady_time: float) -> list[DomainState]:
        """Return the states after a round. at: its time, in seconds since 1970. steady_time: the same on a
        clock that does not jump."""
        return [self._build_state(place, at, steady_time) for place in places]

    def _build_state(self, place: PlaceRound, at: float, steady_time: float) -> DomainState:
        history = self._histories.setdefault((place.context, place.domain), [])
        error = place.error
        if place.answers is not None and place.answers.overview is not None:
            history.append((steady_time, place.answers.overview))
            del history[:-WINDOW]
        elif place.answers is not None and not history:
            error = error or "the account has no JetStream; only its servers are known"
        error_class = Unreachable if place.state in (SILENT, WITHOUT_JETSTREAM) else JsctlError
        failure = error_class(error) if error else None
        when = at if history else None
        return DomainState(place.context, place.domain, "", "$JS.API", list(history), failure, when)


async def fetch_states(
    targets: Sequence[Settings], fetch: Fetch[Overview], *, clock: Clock, trace: Trace | None
) -> list[DomainState]:
    """Ask every context and domain once. A failure is recorded in the state of the place and raises
    nothing.
    """
    async with watch(targets, lambda _: fetch, clock=clock, trace=trace) as overviews:
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
    """Yield the states after each round. interval: ns between rounds. count: rounds, None for no end."""
    seconds = interval / SECOND
    async with watch(targets, lambda _: fetch, clock=clock, trace=trace) as overviews:
        async for _ in overviews.rounds(seconds, count):
            yield Round(build_domain_states(overviews, seconds))


def build_domain_states(overviews: Watch[Overview], interval: float) -> list[DomainState]:
    """Return the states of all contexts and domains. interval: seconds between rounds."""
    late = max(_LATE_AFTER, 1.5 * interval)
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
