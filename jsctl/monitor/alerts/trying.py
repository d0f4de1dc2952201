"""Alerts tried on a recording: what would have pended, fired and been resolved."""

from collections.abc import Sequence
from typing import NamedTuple

from jsctl.base.units import seconds_to_ns
from jsctl.monitor.alerts.machine import Event, States, collect_seen, step
from jsctl.monitor.alerts.rules import AlertFile
from jsctl.monitor.report.replay import Replay


class Trial(NamedTuple):
    """What would have happened. times: of the first and the last round, ns since 1970. states: after it."""

    rounds: int
    times: tuple[int, int]
    events: Sequence[Event]
    states: States


async def run_trials(files: Sequence[AlertFile], replay: Replay) -> list[Trial]:
    """Return the trial of each file on the rounds of a recording. Raises BadInput for a damaged round."""
    states: list[States] = [{} for _ in files]
    events: list[list[Event]] = [[] for _ in files]
    async for round in replay.rounds():
        seen, at = collect_seen(round.places), seconds_to_ns(round.at or 0)
        for number, file in enumerate(files):
            states[number], new = step(file, states[number], at, seen)
            events[number] += new
    times = seconds_to_ns(replay.times[0]), seconds_to_ns(replay.times[-1])
    return [Trial(len(replay.times), times, own, last) for own, last in zip(events, states, strict=True)]
