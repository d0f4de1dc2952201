"""`jsctl consumer pcgroup create`."""

import re
from dataclasses import dataclass
from typing import Any

import click

from jsctl.commands.cli import SIZE, Count, argument, command, dry_run_flag, option
from jsctl.commands.consumer.pcgroup.info import view_group
from jsctl.commands.consumer.pcgroup.shared import parse_members
from jsctl.commands.options.data_loss import LossOptions, confirm_taking, find_taken, loss_flags
from jsctl.commands.picking.pick import open_stream
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream import partitioned_groups as groups
from jsctl.jetstream.api import Json
from jsctl.jetstream.consumer.availability import list_unmatched
from jsctl.jetstream.stream import requests as streams
from jsctl.views.intent import Intent
from jsctl.views.result import Result


@dataclass(frozen=True, slots=True)
class Options:
    """The group. max_buffered_bytes: of an elastic group's own stream."""

    stream: str
    new_group: str
    partitions: int
    members: tuple[str, ...]
    static: bool
    filters: tuple[str, ...]
    max_buffered_msgs: int
    max_buffered_bytes: int

    def __post_init__(self) -> None:
        if self.static and (self.max_buffered_msgs or self.max_buffered_bytes):
            raise BadInput("a static group has no stream of its own", "leave --max-buffered-... out")
        is_mapped = any(":" in member for member in self.members)
        if is_mapped and self.filters and (self.static or self.filters[1:]):
            what = "filters have no effect on" if self.static else "only one filter is possible for"
            raise BadInput(f"{what} a group with mapped partitions: its members read all of theirs")

    def build_config(self) -> Json:
        """Return the group's configuration as orbit.go writes it, without values that are empty."""
        filters: dict[str, Any]
        if self.static:
            filters = {"filters": list(self.filters)} if self.filters else {}
        else:
            filters = {"partitioning_filters": list(map(_parse_filter, self.filters)) or None}
            messages, size = self.max_buffered_msgs, self.max_buffered_bytes
            filters |= {"max_buffered_msg": messages} if messages else {}
            filters |= {"max_buffered_bytes": size} if size else {}
        return {"max_members": self.partitions, **filters, **parse_members(self.members)}


def _parse_filter(text: str) -> Json:
    """Return a filter and the wildcards that make its partitions: `orders.*.*:1,2`; without these, all tokens
    do.
    """
    split = re.fullmatch(r"(.+):(\d+(?:,\d+)*)", text)
    if not split:
        return {"filter": text, "partitioning_wildcards": []}
    return {"filter": split[1], "partitioning_wildcards": [int(number) for number in split[2].split(",")]}


@command(
    "create",
    examples=[
        "jsctl consumer pcgroup create ORDERS WORK 4 m1 m2",
        "jsctl consumer pcgroup create ORDERS WORK 8 --filter 'orders.*.>:1' --max-buffered-msgs 10000",
        "jsctl consumer pcgroup create ORDERS WORK 4 m1:0,1 m2:2,3",
        "jsctl consumer pcgroup create PARTITIONED WORK 8 m1 m2 --static",
    ],
)
@argument("stream")
@argument("new_group", metavar="GROUP", label="Group")
@argument("partitions", type=click.IntRange(1, 10_000))
@argument("members", metavar="[MEMBER]...", nargs=-1)
@option("--static", is_flag=True, help="Read the stream itself, whose subjects begin with the partition")
@option(
    "--filter",
    "filters",
    metavar="SUBJECT[:1,2]",
    completes="subject",
    multiple=True,
    help="Which messages; of an elastic group also the wildcards to partition by; may be repeated",
)
@option("--max-buffered-msgs", type=Count(min=0), default=0, metavar="N", help="Limit of the group's stream")
@option("--max-buffered-bytes", type=SIZE, default=0, metavar="SIZE", help="Limit of the group's stream")
@loss_flags
@dry_run_flag()
async def create(env: Env, options: Options, permits: LossOptions) -> Result:
    """Create an elastic group, with a stream STREAM-GROUP of its own, a work queue that copies the messages
    of STREAM and puts the partition before their subjects; or with --static one that reads STREAM itself.
    Partitions are divided between the members, or mapped to them as in m1:0,1. Members of an elastic group
    may be added later.
    """
    api, stream = await open_stream(env, options.stream)
    kind: groups.Kind = "static" if options.static else "elastic"
    group = groups.build_group(stream, options.new_group, kind, options.build_config())
    source = (await streams.fetch_info(api, stream))["config"]
    existing = await groups.find_existing(api, group)
    if existing and await streams.fetch_info_or_none(api, existing.queue):
        env.inform(f"jsctl: {group.label} already exists, nothing was changed")
        return view_group(existing, await groups.fetch_consumers(api, existing))
    facts = {"stream": stream, "group": group.name, "kind": kind, "config": group.config}
    own = "" if kind == "elastic" else "*."  # the partition, which a static group's subjects begin with
    filters = [own + subject for subject in group.subjects if subject != ">"]
    for subject in list_unmatched(filters, source):
        env.say(f"jsctl: the filter {subject} matches none of the subjects of stream {stream}")
    queue = f" and stream {group.queue}" if kind == "elastic" else ""
    env.announce(Intent(f"create {kind} {group.label}{queue}", facts))
    if kind == "elastic":
        losing = await find_taken(env, api, groups.build_queue(group, source))
        await confirm_taking(env, permits, f"create {group.label}", losing)
    return view_group(await groups.create(api, existing or group, source), {})
