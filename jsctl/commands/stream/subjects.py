"""`jsctl stream subjects`."""

from collections.abc import Mapping

import click

from jsctl.base.units import pluralize
from jsctl.commands.cli import argument, command, option
from jsctl.commands.picking.pick import open_stream
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.subjects import is_subject
from jsctl.views.result import Column, Lines, Result, Table

SORTS = ("name", "subjects", "messages", "count")


_COLUMNS = (Column("Subject", "subject"), Column("Count", "count", "count"))


def _show_subjects(
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
        return Result([Table("", _COLUMNS, (), empty=f"No subjects found matching {pattern}")], data=data)
    if names:
        return Result([Lines(ordered, whole=True)], data=data)
    title = f"{pluralize(len(ordered), 'Subject')} in stream {stream}"
    return Result([Table(title, _COLUMNS, [(subject, counts[subject]) for subject in ordered])], data=data)


@command(
    "subjects",
    columns=_COLUMNS,
    examples=["jsctl stream subjects ORDERS", "jsctl stream subjects ORDERS 'ORDERS.eu.>' --sort name"],
)
@argument("stream", default="")
@argument("filter", default=">")
@option("--sort", type=click.Choice(SORTS), default="messages", help="Sort by name or by messages")
@option("--reverse", "-R", is_flag=True, help="Sort in reverse order")
@option("--names/--no-names", default=False, help="Only the subjects, one per line")
async def subjects(env: Env, stream: str, filter: str, sort: str, reverse: bool, names: bool) -> Result:
    if not is_subject(filter):
        raise BadInput(f"{filter!r} is not a valid subject")
    api, name = await open_stream(env, stream)
    await streams.fetch_info(api, name)
    counts = await streams.count_subjects(api, name, filter)
    by_name = sort in ("name", "subjects")
    return _show_subjects(name, counts, pattern=filter, by_name=by_name, reverse=reverse, names=names)
