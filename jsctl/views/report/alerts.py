"""Alerts tried on a recording, as people and programs see them. Pure."""

from collections.abc import Callable, Sequence
from typing import Any

from jsctl.base.units import format_rfc3339, format_time, pluralize, to_datetime
from jsctl.errors import ExitStatus
from jsctl.monitor.alerts.machine import Event, list_firing
from jsctl.monitor.alerts.messages import encode_event, format_event, format_values
from jsctl.monitor.alerts.trying import Trial
from jsctl.views.events import End, Events, Presentation
from jsctl.views.result import Cell, Column, Part, Result, Style, Table, Text

_STYLES: dict[str, Style] = {"firing": "bad", "no data": "warn", "pending": "warn", "resolved": "good"}
_COLUMNS = (
    Column("Time", "at", "time"),
    Column("State", "state", "prose"),
    Column("Alert", "alert", "prose"),
    Column("Row", "row", "prose"),
    Column("Seen", "seen", "prose"),
)


def show_trial(trial: Trial, file: str, recording: str) -> Result:
    """Return what would have happened. file, recording: their names."""
    words = [
        _count_silenced(f"{len(own):,} {state}", own)
        for state in _STYLES
        if (own := [event for event in trial.events if event.state == state])
    ]
    first, last = map(format_time, trial.times)
    span = f"{pluralize(trial.rounds, 'round')} from {first} to {last}"
    parts: list[Part] = [Text(f"{span}: {', '.join(words) or 'nothing would have pended or fired'}", "bold")]
    if trial.events:
        parts.append(_build_table("Alerts", trial.events))
    data = {
        "file": file,
        "recording": recording,
        "rounds": trial.rounds,
        "from": format_rfc3339(trial.times[0]),
        "to": format_rfc3339(trial.times[1]),
        "events": [encode_event(event) for event in trial.events],
        "firing": [
            {
                "alert": one.alert,
                "row": one.name,
                "since": format_rfc3339(one.since),
                "fired": format_rfc3339(one.at),
            }
            for one in list_firing(trial.states)
        ],
    }
    return Result(parts, data)


def _count_silenced(words: Any, events: Sequence[Event]) -> str:
    """Return a count of events, with how many of them are silenced."""
    silenced = sum(event.is_silenced for event in events)
    return f"{words} ({silenced:,} silenced)" if silenced else f"{words}"


def _build_table(
    title: str, events: Sequence[Event], first: Sequence[Column] = (), values: Sequence[Any] = ()
) -> Table:
    rows = [
        [
            *([values[number]] if first else []),
            to_datetime(event.at),
            Cell(
                event.state, event.state + (" (silenced)" if event.is_silenced else ""), _STYLES[event.state]
            ),
            event.rule.name,
            event.name,
            ", ".join(_list_details(event)),
        ]
        for number, event in enumerate(events)
    ]
    return Table(title, [*first, *_COLUMNS], rows)


def _list_details(event: Event) -> list[str]:
    details = [*([event.why] if event.why else []), *format_values(event.facts)]
    details += [event.rule.severity] if event.rule.severity else []
    return [*details, f"to {' and '.join(event.to)}"] if event.to else details


def compare_trials(old: Trial, new: Trial) -> list[tuple[str, Event]]:
    """Return what a change of rules would have changed, in the order of time: `-` with events that only the
    old ones have, `+` with those of the new ones; also those of which others are told, or something else."""
    before, after = ({_identify(event): event for event in trial.events} for trial in (old, new))
    changed = [("-", event) for key, event in before.items() if key not in after]
    changed += [("+", event) for key, event in after.items() if key not in before]
    return sorted(changed, key=lambda change: (change[1].at, change[0] == "+"))


def _identify(event: Event) -> tuple[object, ...]:
    told = event.rule.severity, event.rule.about, *event.to
    return event.at, event.key, event.state, event.was, event.is_silenced, *told


def show_difference(old: Trial, new: Trial, files: tuple[str, str], recording: str) -> Result:
    """Return what a change of rules would have changed."""
    changes = compare_trials(old, new)
    fired = [[event for event in trial.events if event.state == "firing"] for trial in (old, new)]
    numbers = [_count_silenced(len(own), own) for own in fired]
    counts = f"{numbers[0]} would have fired by {files[0]}, {numbers[1]} by {files[1]}"
    if not changes:
        parts: list[Part] = [Text(f"nothing would have changed: {counts}", "good")]
    else:
        events = [event for _, event in changes]
        marks = [Cell(mark, mark, "bad" if mark == "-" else "good") for mark, _ in changes]
        parts = [Text(counts, "bold"), _build_table("Changes", events, [Column("", "change")], marks)]
    data = {
        "old": files[0],
        "new": files[1],
        "recording": recording,
        "rounds": old.rounds,
        "fired": {"old": len(fired[0]), "new": len(fired[1])},
        "changes": [
            {"change": "removed" if mark == "-" else "added", **encode_event(e)} for mark, e in changes
        ],
    }
    return Result(parts, data, status=ExitStatus.DIFFERENT if changes else ExitStatus.OK)


def show_events(batches: Any, result: Callable[[], Any]) -> Events[Event]:
    """Return events that are written as they occur, a line for each."""
    return Events(
        batches=batches,
        shown=Presentation(
            record=encode_event,
            text=lambda event: f"{format_time(event.at)} {format_event(event)}\n",
            heading="event",
        ),
        end=End(noun="event", endless=True),
        result=result,
    )
