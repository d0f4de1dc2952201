"""`jsctl consumer pcgroup ls`."""

from jsctl.commands.cli import argument, command
from jsctl.commands.picking.pick import validate_stream_name
from jsctl.env import Env
from jsctl.jetstream.partitioned_groups import Group, list_groups
from jsctl.jetstream.stream import requests as streams
from jsctl.views.result import Cell, Column, Result, build_table


def _count(group: Group) -> int | None:
    return None if group.violation else int(group.config["max_members"])


def _list_members(group: Group) -> Cell:
    members = [] if group.violation else group.members
    return Cell(members, ", ".join(members))


COLUMNS = (
    Column("Stream", "stream"),
    Column("Group", "group", read=lambda group: group.name),
    Column("Kind", "kind"),
    Column("Partitions", "partitions", "count", read=_count),
    Column("Members", "members", read=_list_members),
    Column("Problem", "problem", "prose", optional=True, read=lambda group: group.violation or None),
)


@command("ls", columns=COLUMNS, examples=["jsctl consumer pcgroup ls", "jsctl consumer pcgroup ls ORDERS"])
@argument("stream", default="")
async def ls(env: Env, stream: str) -> Result:
    """Show static and elastic groups, which the buckets static-consumer-groups and elastic-consumer-groups
    name.
    """
    api = await env.jetstream()
    if stream:
        stream = validate_stream_name(stream)
        await streams.fetch_info(api, stream)
    found = await list_groups(api, stream)
    where = f"stream {stream}" if stream else "this account"
    empty = f"No partitioned consumer groups in {where}"
    return Result([build_table("Partitioned Consumer Groups", COLUMNS, found, empty=empty)])
