"""`server cluster balance`: how connections are spread, and which were closed."""

from collections.abc import Mapping, Sequence

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
        (one.cluster, one.server, len(one.clients), one.share, len(one.surplus), closed.get(one.id, 0))
        for one in loads
    ]
    total, wanted = sum(closed.values()), sum(len(one.surplus) for one in loads)
    summary = f"Balanced {total:,} connections." if wanted else "The connections are balanced."
    table = Table("Connections", _COLUMNS, rows)
    status = ExitStatus.OK if total == wanted else ExitStatus.FAILURE
    return Result([table, Text(summary)], data={"balanced": total, "servers": table.records()}, status=status)
