"""Consumers that did not answer, for lists and reports."""

from collections.abc import Sequence

from jsctl.jetstream.consumer.requests import ConsumerList
from jsctl.views.result import Column, Table


def unreachable_consumers(lists: Sequence[ConsumerList]) -> list[Table]:
    """Return tables of the consumers that did not answer, if there are any."""
    tables = []
    columns = [Column("Stream", "stream"), Column("Consumer", "consumer")]
    if missing := [(listed.stream, name) for listed in lists for name in listed.missing]:
        tables.append(Table("Inaccessible Consumers", columns, missing))
    if offline := [(listed.stream, *pair) for listed in lists for pair in sorted(listed.offline.items())]:
        tables.append(Table("Offline Consumers", [*columns, Column("Reason", "reason", "prose")], offline))
    return tables
