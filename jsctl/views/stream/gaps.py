"""`stream gaps`."""

from collections.abc import Sequence

from jsctl.base.units import format_bytes, format_count, pluralize
from jsctl.jetstream.message.gaps import Gap
from jsctl.views.result import Column, Part, Result, Table, Text

COLUMNS = (
    Column("First Message", "first", "count"),
    Column("Last Message", "last", "count"),
    Column("Missing", "missing", "count"),
)
_MAX_LOST_LISTED = 20
"""Sequences of lost messages that are listed."""


def gaps(stream: str, ranges: Sequence[Gap], lost: Sequence[int], lost_bytes: int) -> Result:
    """Return the gaps in a stream; the document is a list of first and last sequences.

    ranges: first and last missing sequence of each gap. lost: sequences that the server lost.
    """
    parts: list[Part] = []
    if ranges:
        title = f"{pluralize(len(ranges), 'gap')} found in Stream {stream}"
        parts.append(Table(title, COLUMNS, [(first, last, last - first + 1) for first, last in ranges]))
    else:
        parts.append(Table("", COLUMNS, (), empty=f"No deleted messages in {stream}"))
    if lost:
        sequences = ", ".join(map(format_count, lost[:_MAX_LOST_LISTED])) + (
            " …" if len(lost) > _MAX_LOST_LISTED else ""
        )
        count = pluralize(len(lost), "message")
        parts.append(Text(f"The server lost {count} ({format_bytes(lost_bytes)}): {sequences}", "bad"))
    return Result(parts, data=[list(gap) for gap in ranges])
