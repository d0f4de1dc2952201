"""`server cluster balance`: how connections are spread, and which were closed."""

from collections.abc import Mapping, Sequence

from jsctl.base.units import pluralize
from jsctl.errors import ExitStatus
from jsctl.monitor.server.balance import Load
from jsctl.views.result import Column, Result, Table, Text

_COLUMNS = (
    Column("Cluster", "cluster"),
    Column("Server", "server"),
    Column("Connections", "connections", "count"),
    Column("Share", "share", "count"),
    Column("Surplus", "surplus", "count"),
    Column("Closed", "closed", "count"),
)


def balance(loads: Sequence[Load], closed: Mapping[str, int]) -> Result:
    """Show what was done. closed: how many connections of a server were closed, by its ID."""
    rows = [
        (load.cluster, load.server, len(load.clients), load.share, len(load.surplus), closed.get(load.id, 0))
        for load in loads
    ]
    total, surplus = sum(closed.values()), sum(len(load.surplus) for load in loads)
    summary = f"Balanced {pluralize(total, 'connection')}." if surplus else "The connections are balanced."
    table = Table("Connections", _COLUMNS, rows)
    status = ExitStatus.OK if total == surplus else ExitStatus.FAILURE
    return Result([table, Text(summary)], data={"balanced": total, "servers": table.records()}, status=status)
