"""`stream subjects`."""

from collections.abc import Mapping

from jsctl.base.units import pluralize
from jsctl.views.result import Column, Lines, Result, Table

COLUMNS = (Column("Subject", "subject"), Column("Count", "count", "count"))


def subjects(
    stream: str, counts: Mapping[str, int], *, pattern: str, by_name: bool, reverse: bool, names: bool
) -> Result:
    """Show how many messages each subject has; the document maps subjects to counts.

    counts: messages by subject. pattern: the subject filter. names: show people the subjects alone.
    """
    ordered = sorted(
        counts,
        key=(lambda subject: (0, subject)) if by_name else (lambda subject: (counts[subject], subject)),
        reverse=reverse,
    )
    data = {subject: counts[subject] for subject in ordered}
    if not counts:
        return Result([Table("", COLUMNS, (), empty=f"No subjects found matching {pattern}")], data=data)
    if names:
        return Result([Lines(ordered, whole=True)], data=data)
    title = f"{pluralize(len(ordered), 'Subject')} in stream {stream}"
    return Result([Table(title, COLUMNS, [(subject, counts[subject]) for subject in ordered])], data=data)
