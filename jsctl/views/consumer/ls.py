"""The list of `consumer ls`."""

from collections.abc import Sequence

from jsctl.base.units import compute_age
from jsctl.jetstream.api import Json
from jsctl.jetstream.consumer.requests import ConsumerList
from jsctl.jetstream.paging import Collected
from jsctl.views.consumer.unreachable import unreachable_consumers
from jsctl.views.result import Column, Result, Table

COLUMNS = (
    Column("Name", "name"),
    Column("Description", "description", "prose"),
    Column("Created", "created", "time"),
    Column("Ack Pending", "ack_pending", "count"),
    Column("Unprocessed", "unprocessed", "count"),
    Column("Last Delivery", "last_delivery", "ago"),
)


def list_row(info: Json) -> Sequence[object]:
    """Return the row of a consumer's info, one value for each column."""
    return (
        info["name"],
        info["config"].get("description", ""),
        info.get("created"),
        int(info.get("num_ack_pending", 0)),
        int(info.get("num_pending", 0)),
        compute_age((info.get("delivered") or {}).get("last_active"), info.get("ts")),
    )


def listing(stream: str, consumers: Collected[Sequence[object]]) -> Result:
    """Show the list of `consumer ls`. consumers: their `list_row`s by name."""
    names = sorted(consumers.items)
    if not names and not consumers.missing and not consumers.offline:
        return Result([Table("", COLUMNS, (), empty="No Consumers defined")], data=names)
    rows = [consumers.items[name] for name in names]
    unreachable = unreachable_consumers([ConsumerList(stream, (), consumers.missing, consumers.offline)])
    table = Table("Consumers", COLUMNS, rows, spare=("created", "last_delivery_ns", "description"))
    return Result([table, *unreachable], data=names)
