"""`kv diff`."""

from collections.abc import Sequence

from jsctl.base.units import pluralize
from jsctl.errors import ExitStatus
from jsctl.jetstream.api import Json
from jsctl.jetstream.kv.compare import KeyDifference
from jsctl.jetstream.message.payload import encode_field
from jsctl.views.kv.value import short_value
from jsctl.views.result import Cell, Column, Part, Result, Style, Table, Text

_STYLES: dict[str, Style] = {"added": "good", "removed": "bad", "changed": "warn"}


def differences(
    first: str,
    second: str,
    differing: Sequence[KeyDifference],
    same: int,
    unknown: Sequence[str] | None = None,
) -> Result:
    """Show what differs between two buckets, by key. same: number of keys with the same value in both.
    unknown: keys that are not compared, as their values at a time are gone; None without a time."""
    data: Json = {
        "same": same,
        "differences": [
            {
                "key": difference.key,
                "change": difference.change,
                "before": _build_side(difference, 0),
                "after": _build_side(difference, 1),
            }
            for difference in differing
        ],
    }
    if unknown is not None:
        data["unknown"] = unknown
    rest = f"; {pluralize(len(unknown), 'other key')} cannot be compared" if unknown else ""
    if not differing:
        status = ExitStatus.FAILURE if unknown else ExitStatus.OK
        text = f"{first} and {second} hold the same values ({same:,} of them){rest}"
        return Result([Text(text)], data=data, status=status)
    columns = (
        Column("Key", "key"),
        Column("Change", "change"),
        Column(first, "before", "prose", is_payload=True),
        Column(second, "after", "prose", is_payload=True),
    )
    rows = [
        (
            difference.key,
            Cell(difference.change, difference.change, _STYLES[difference.change]),
            *(short_value(entry) if entry else None for entry in (difference.before, difference.after)),
        )
        for difference in differing
    ]
    counts = ", ".join(
        f"{sum(difference.change == change for difference in differing):,} {change}" for change in _STYLES
    )
    parts: list[Part] = [
        Table(f"Differences of {first} and {second}", columns, rows),
        Text(f"{counts}, {same:,} the same{rest}"),
    ]
    return Result(parts, data=data, status=ExitStatus.DIFFERENT)


def _build_side(difference: KeyDifference, side: int) -> Json | None:
    entry = (difference.before, difference.after)[side]
    return {"revision": entry.revision, **encode_field("value", entry.value)} if entry else None
