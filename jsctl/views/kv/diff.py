"""`kv diff`."""

from collections.abc import Sequence

from jsctl.errors import ExitStatus
from jsctl.jetstream.api import Json
from jsctl.jetstream.kv.compare import KeyDifference
from jsctl.jetstream.kv.entry import Entry
from jsctl.views.kv.value import short_value, value_fields
from jsctl.views.result import Cell, Column, Part, Result, Style, Table, Text

_STYLES: dict[str, Style] = {"added": "good", "removed": "bad", "changed": "warn"}


def differences(one: str, other: str, differing: Sequence[KeyDifference], same: int) -> Result:
    """Show what differs between two buckets, by key. same: number of keys with the same value in both."""
    data: Json = {
        "same": same,
        "differences": [
            {"key": each.key, "change": each.change, "before": _side(each, 0), "after": _side(each, 1)}
            for each in differing
        ],
    }
    if not differing:
        return Result([Text(f"{one} and {other} hold the same values ({same:,} of them)")], data=data)
    columns = (
        Column("Key", "key"),
        Column("Change", "change"),
        Column(one, "before", "prose"),
        Column(other, "after", "prose"),
    )
    rows = [
        (
            each.key,
            Cell(each.change, each.change, _STYLES[each.change]),
            *map(_cell, (each.before, each.after)),
        )
        for each in differing
    ]
    counts = ", ".join(f"{sum(each.change == change for each in differing):,} {change}" for change in _STYLES)
    parts: list[Part] = [
        Table(f"Differences of {one} and {other}", columns, rows),
        Text(f"{counts}, {same:,} the same"),
    ]
    return Result(parts, data=data, status=ExitStatus.DIFFERENT)


def _cell(entry: Entry | None) -> Cell | str | None:
    return short_value(entry) if entry else None


def _side(difference: KeyDifference, side: int) -> Json | None:
    entry = (difference.before, difference.after)[side]
    return {"revision": entry.revision, **value_fields(entry.value)} if entry else None
