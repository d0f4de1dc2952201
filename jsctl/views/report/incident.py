"""The story of an incident, as people and programs see it. Pure."""

from collections.abc import Sequence
from typing import Any

from jsctl.base.units import (
    SECOND,
    format_exact_duration,
    format_rfc3339,
    format_time,
    pluralize,
    to_datetime,
)
from jsctl.monitor.incident.changes import Change
from jsctl.monitor.incident.story import Beginning, Story
from jsctl.views.report.history import Series
from jsctl.views.result import (
    Cell,
    Column,
    Field,
    InfoPage,
    Kind,
    Part,
    Result,
    Section,
    Style,
    Table,
    Text,
    build_table,
)

PAGE_TITLE = "JetStream incident"

_STYLES: dict[str, Style] = {"bad": "bad", "warning": "warn", "note": "", "good": "good"}
_CHANGES = (
    Column("Time", "at", "time", read=lambda change: to_datetime(change.at)),
    Column(
        "Change", "kind", "prose", read=lambda change: Cell(change.kind, change.kind, _STYLES[change.level])
    ),
    Column("Of", "name", "prose"),
    Column("What", "says", "prose"),
    Column("Clock of", "server", hideable=1),
)
_BEGINNINGS = (
    *_CHANGES[:-1],
    Column("Lasted", "lasted"),
    Column("Changed before", "before", "prose"),
    Column("Followed", "after", "prose"),
)
_MAX_SHOWN = 5


def show_story(story: Story, recording: str) -> Result:
    """Return the story for a terminal, and as JSON. recording: the name of the file."""
    parts: list[Part] = [Text(_summarize(story), "bold" if story.changes else "good")]
    sections = [_build_section(one, story) for one in story.beginnings]
    if any(section.fields for section in sections):  # what is known of each is in the table, too
        parts.append(InfoPage("What began, what changed before it, and what followed", sections))
    if story.changes:
        parts += [_build_changes(story), *_build_clocks(story)]
    return Result(parts, encode_story(story, recording), table=_build_changes(story))


def _summarize(story: Story) -> str:
    times = f"from {format_time(story.begin)} to {format_time(story.end)}, {pluralize(story.rounds, 'round')}"
    first = story.first
    if first is None:
        return f"nothing changed {times}"
    return (
        f"{pluralize(len(story.changes), 'change')} {times}; the first: {first.name}: {first.says},"
        f" {format_time(first.at)}"
    )


def _build_section(beginning: Beginning, story: Story) -> Section:
    change = beginning.change
    title = f"{format_time(change.at)} {change.name}: {change.says}"
    fields = [Field("Why", change.why)] if change.why else []
    fields += [Field("Lasted", _format_span(beginning, story))] if change.key else []
    for label, changes in (("Before", beginning.before), ("Followed", beginning.after)):
        if changes:
            fields.append(Field(label, _list_words(change, changes)))
    return Section(title, fields)


def _list_words(change: Change, changes: Sequence[Change]) -> list[str]:
    """Return changes with their distance in time from another one."""
    shown = changes[-_MAX_SHOWN:] if changes and changes[0].at < change.at else changes[:_MAX_SHOWN]
    words = [f"{(one.at - change.at) / SECOND:+.1f}s {one.name}: {one.says}" for one in shown]
    return [*words, f"{len(changes) - len(shown):,} more"] if len(changes) > len(shown) else words


def _format_span(beginning: Beginning, story: Story) -> str:
    end = story.end if beginning.until is None else beginning.until
    is_open = beginning.until is None and beginning.change.key
    span = end - beginning.change.at
    span -= span % (SECOND // 10 if span < 10 * SECOND else SECOND)
    words = format_exact_duration(span)
    return f"{words}, to the end of the recording" if is_open else words


def _build_changes(story: Story) -> Table:
    return build_table("All changes", _CHANGES, story.changes)


def _build_clocks(story: Story) -> list[Table]:
    """Return the table of how far clocks are ahead, if any is known."""
    columns = (Column("Server", "server"), Column("Seconds ahead", "ahead_seconds", "number"))
    clocks = [[name, round(skew, 3)] for name, skew in story.skews.items()]
    return [Table("Clocks of servers", columns, clocks)] if clocks else []


def encode_story(story: Story, recording: str) -> dict[str, Any]:
    """Return the JSON form: `{"recording", "from", "to", "rounds", "first", "began": [{..., "until",
    "before", "followed"}], "changes", "advisories", "clocks"}`.

    A change is `{"at", "after", "kind", "level", "context", "domain", "name", "says", "why", "code"}`: it
    happened between `after` and `at`. With a `server`, its clock showed `server_at` then, and `at` is that
    less what `clocks` says. `advisories` is whether the recording has those of all its places.
    """
    first = story.first
    return {
        "recording": recording,
        "from": format_rfc3339(story.begin),
        "to": format_rfc3339(story.end),
        "rounds": story.rounds,
        "first": None if first is None else _encode_change(first),
        "began": [
            {
                **_encode_change(one.change),
                "until": None if one.until is None else format_rfc3339(one.until),
                "before": [_encode_change(change) for change in one.before],
                "followed": [_encode_change(change) for change in one.after],
            }
            for one in story.beginnings
        ],
        "changes": [_encode_change(change) for change in story.changes],
        "advisories": not story.is_deaf,
        "clocks": [{"server": name, "ahead_seconds": round(skew, 3)} for name, skew in story.skews.items()],
    }


def _encode_change(change: Change) -> dict[str, Any]:
    return {
        "at": format_rfc3339(change.at),
        "after": format_rfc3339(change.after),
        "kind": change.kind,
        "level": change.level,
        "context": change.context,
        "domain": change.domain,
        "name": change.name,
        "says": change.says,
        "why": change.why or None,
        "code": change.code or None,
        "server": change.server or None,
        "server_at": format_rfc3339(change.server_at) if change.server else None,
    }


def build_series(story: Story) -> list[Series]:
    """Return the graphs of a page; those without values are left out."""
    times = [to_datetime(sample.at) for sample in story.samples]
    curves: list[tuple[str, Kind, list[float | None]]] = [
        ("Messages in all streams", "count", [_to_float(one.messages) for one in story.samples]),
        ("Messages stored per second", "count", [one.rate for one in story.samples]),
        ("Worst lag", "count", [_to_float(one.lag) for one in story.samples]),
        ("Problems", "count", [float(one.problems) for one in story.samples]),
        ("Places that do not answer", "count", [float(one.silent) for one in story.samples]),
    ]
    return [
        Series(title, kind, times, values)
        for title, kind, values in curves
        if any(value is not None for value in values)
    ]


def _to_float(value: int | None) -> float | None:
    return None if value is None else float(value)


def build_tables(story: Story) -> list[Table]:
    """Return the tables of a page."""
    rows = [
        [
            *(column.get(one.change) for column in _CHANGES[:-1]),
            _format_span(one, story) if one.change.key else "",
            _list_words(one.change, one.before),
            _list_words(one.change, one.after),
        ]
        for one in story.beginnings
    ]
    tables = [Table("What began", _BEGINNINGS, rows)] if rows else []
    tables += [_build_changes(story)] if story.changes else []
    return [*tables, *_build_clocks(story)]


def build_note(story: Story, recording: str) -> str:
    """Return the line below the title of a page."""
    return (
        f"{_summarize(story)}. From {recording}; a change happened in the round of its time or after the one"
        " before. What changed before need not be the cause."
    )
