"""`jsctl consumer pcgroup info`."""

from collections.abc import Mapping, Sequence

from jsctl.commands.cli import argument, command
from jsctl.commands.consumer.pcgroup.shared import format_partitions, kind_flag, open_group
from jsctl.env import Env
from jsctl.jetstream.api import Json
from jsctl.jetstream.partitioned_groups import PRIORITY_GROUP, Group, Kind, fetch_consumers
from jsctl.views.result import Cell, Column, Field, InfoPage, Result, Section, build_table

_COLUMNS = (
    Column("Member", "member", read=lambda row: row["member"]),
    Column(
        "Partitions",
        "partitions",
        read=lambda row: Cell(row["partitions"], format_partitions(row["partitions"]) or "none"),
    ),
    Column("Active", "active", "bool", read=lambda row: row["active"]),
    Column("Pinned Client", "pinned", hideable=1, read=lambda row: row["pinned"] or ""),
    Column("Unprocessed", "unprocessed", "count", read=lambda row: row["unprocessed"]),
    Column("Ack Pending", "ack_pending", "count", read=lambda row: row["ack_pending"]),
)


@command(
    "info",
    columns=_COLUMNS,
    examples=["jsctl consumer pcgroup info ORDERS WORK", "jsctl consumer pcgroup info ORDERS WORK --json"],
)
@argument("stream", default="")
@argument("pcgroup", metavar="GROUP", default="")
@kind_flag
async def info(env: Env, stream: str, pcgroup: str, kind: Kind | None) -> Result:
    """Show the partitions of each member, whether a process reads them, which client the server has pinned,
    and what waits for it. Partitions without a member are read by nobody.
    """
    api, group = await open_group(env, stream, pcgroup, kind)
    return view_group(group, await fetch_consumers(api, group))


def view_group(group: Group, consumers: Mapping[str, Json]) -> Result:
    """Show a group. consumers: the infos of the members' consumers that exist."""
    owners = group.owners
    rows = [_build_row(group, owners, member, consumers.get(member)) for member in group.members]
    unread = [number for number in range(int(group.config["max_members"])) if number not in owners]
    config = group.config
    filters = [
        f"{each['filter']} by wildcards {', '.join(map(str, numbers))}" if numbers else str(each["filter"])
        for each in config.get("partitioning_filters") or ()
        for numbers in [each.get("partitioning_wildcards")]
    ]
    fields = [
        Field("Kind", group.kind),
        Field("Partitions", config["max_members"], "count"),
        Field("Filters", filters or config.get("filters") or ">"),
        Field("Read from Stream", group.queue),
        Field("Maximum Buffered Messages", config.get("max_buffered_msg", -1), "limit"),
        Field("Maximum Buffered Bytes", config.get("max_buffered_bytes", -1), "bytes_limit"),
        Field("Partitions without Member", format_partitions(unread) or "none"),
        Field("Revision", group.revision, "number"),
    ]
    if group.kind == "static":
        fields = [field for field in fields if "Buffered" not in field.label]
    data = {
        "stream": group.stream,
        "group": group.name,
        "kind": group.kind,
        "revision": group.revision,
        "queue": group.queue,
        "config": config,
        "members": rows,
        "unread_partitions": unread,
    }
    heading = f"Partitioned Consumer Group {group.stream} > {group.name}"
    table = build_table("Members", _COLUMNS, rows, empty="It has no members")
    return Result([InfoPage(heading, [Section("", fields)]), table], data=data)


def _build_row(group: Group, owners: Mapping[int, str], member: str, info: Json | None) -> Json:
    """Return the JSON of a member. A static one is active while a process waits for messages, an elastic one
    while its consumer exists, which servers remove soon after that (pcgroups: ListStaticActiveMembers).
    """
    info = info or {}
    states: Sequence[Json] = info.get("priority_groups") or ()
    pins = [state.get("pinned_client_id") for state in states if state["group"] == PRIORITY_GROUP]
    is_active = bool(info.get("num_waiting")) if group.kind == "static" else bool(info)
    return {
        "member": member,
        "partitions": [number for number, owner in owners.items() if owner == member],
        "consumer": group.name_consumer(member),
        "active": is_active,
        "pinned": next(iter(filter(None, pins)), None),
        "unprocessed": info.get("num_pending"),
        "ack_pending": info.get("num_ack_pending"),
    }
