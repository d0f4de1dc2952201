"""`jsctl consumer ls`."""

from collections.abc import Sequence
from operator import itemgetter

from jsctl.base.units import compute_age
from jsctl.commands.cli import argument, command, option
from jsctl.commands.picking.pick import open_stream, require_names
from jsctl.env import Env
from jsctl.jetstream.api import Json
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.consumer.requests import ConsumerList
from jsctl.jetstream.paging import Collected
from jsctl.views.consumer.unreachable import unreachable_consumers
from jsctl.views.events import Events, names
from jsctl.views.result import Column, Result, Table
from jsctl.views.shared.infos import CREATED, DESCRIPTION

_COLUMNS = (
    Column("Name", "name", read=itemgetter("name")),
    DESCRIPTION,
    CREATED,
    Column("Ack Pending", "ack_pending", "count", read=lambda info: int(info.get("num_ack_pending", 0))),
    Column("Unprocessed", "unprocessed", "count", read=lambda info: int(info.get("num_pending", 0))),
    Column(
        *("Last Delivery", "last_delivery", "ago"),
        read=lambda info: compute_age((info.get("delivered") or {}).get("last_active"), info.get("ts")),
        hideable=2,
    ),
)


def _list_row(info: Json) -> Sequence[object]:
    """Return the row of a consumer's info, one value for each column."""
    return [column.get(info) for column in _COLUMNS]


def _show_listing(stream: str, consumers: Collected[Sequence[object]]) -> Result:
    """Show the list of `consumer ls`. consumers: their `_list_row`s by name."""
    names = sorted(consumers.items)
    if not names and not consumers.missing and not consumers.offline:
        return Result([Table("", _COLUMNS, (), empty="No Consumers defined")], data=names)
    rows = [consumers.items[name] for name in names]
    unreachable = unreachable_consumers([ConsumerList(stream, (), consumers.missing, consumers.offline)])
    table = Table("Consumers", _COLUMNS, rows)
    return Result([table, *unreachable], data=names)


@command("ls", columns=_COLUMNS, examples=["jsctl consumer ls ORDERS", "jsctl consumer ls ORDERS --names"])
@argument("stream", default="")
@option("--names", "-n", "names_only", is_flag=True, help="Only names, one per line")
@option("--no-select", is_flag=True, help="Never offer a list to pick from")
async def ls(env: Env, stream: str, names_only: bool, no_select: bool) -> Result | Events[str]:
    if no_select:
        require_names(stream=stream)
    api, stream = await open_stream(env, stream)
    if names_only or env.wants_json:
        return names(consumers.list_name_pages(api, stream))
    return _show_listing(stream, await consumers.collect(api, stream, _list_row))
