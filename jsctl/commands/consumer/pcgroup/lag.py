"""`jsctl consumer pcgroup lag`."""

from jsctl.commands.cli import argument, command, option
from jsctl.commands.consumer.pcgroup.shared import kind_flag, open_group
from jsctl.commands.options.watch import WATCH, Report, check_interval, fetch_or_watch
from jsctl.env import Env
from jsctl.jetstream.partition_lag import fetch_lag
from jsctl.jetstream.partitioned_groups import Kind
from jsctl.jetstream.stream import requests as streams
from jsctl.views.result import Column, Part, Result, Text, build_table

_COLUMNS = (
    Column("Partition", "partition", "number", sort=("partition",)),
    Column("Member", "member"),
    Column("Unprocessed", "pending", "count", total=lambda counts: sum(filter(None, counts))),
)


@command(
    "lag",
    columns=_COLUMNS,
    examples=["jsctl consumer pcgroup lag ORDERS WORK", "jsctl consumer pcgroup lag ORDERS WORK --watch 2s"],
)
@argument("stream", default="")
@argument("pcgroup", metavar="GROUP", default="")
@option(*WATCH[0], **WATCH[1])
@kind_flag
async def lag(env: Env, stream: str, pcgroup: str, watch: int | None, kind: Kind | None) -> Report:
    """Count the messages of each partition that were not delivered to its member yet. For an elastic group,
    what its own stream has not copied yet, because it is full, is shown below. It is unknown for streams
    without direct get, and for a static member that has never read.
    """
    check_interval(watch)
    api, group = await open_group(env, stream, pcgroup, kind)

    async def fetch() -> Result:
        rows = await fetch_lag(api, group)
        queue = await streams.fetch_info(api, group.queue) if group.kind == "elastic" else {}
        source_lag = sum(int(each.get("lag") or 0) for each in queue.get("sources") or ()) if queue else None
        counts = [row.pending for row in rows]
        title = f"Lag of Consumer Group {group.stream} > {group.name}"
        is_known = None not in counts
        table = build_table(title, _COLUMNS, rows, **({} if is_known else {"footer": None}))
        data = {
            "stream": group.stream,
            "group": group.name,
            "kind": group.kind,
            "pending": sum(filter(None, counts)) if is_known else None,
            "source_lag": source_lag,
            "partitions": table.records(),
        }
        parts: list[Part] = [table]
        if not is_known:
            parts.append(Text("Unknown where a static member has never read, or without direct get"))
        if source_lag is not None:  # without what was sent, and refused by a full stream
            count = f"at least {source_lag:,}" if source_lag else "0"
            parts.append(Text(f"Not copied to stream {group.queue} yet: {count}"))
        return Result(parts, data=data)

    return await fetch_or_watch(fetch, watch)
