"""`jsctl consumer pcgroup add`, `drop`, `create-mapping` and `delete-mapping`."""

from collections.abc import Mapping
from typing import Any

from jsctl.base.command_lines import build_line
from jsctl.base.units import pluralize
from jsctl.commands.cli import argument, command, destructive, dry_run_flag
from jsctl.commands.consumer.pcgroup.info import view_group
from jsctl.commands.consumer.pcgroup.shared import format_partitions, open_group, parse_members
from jsctl.env import Env
from jsctl.errors import BadInput
from jsctl.jetstream import partitioned_groups as groups
from jsctl.jetstream.api import Api
from jsctl.jetstream.partitioned_groups import Group
from jsctl.views.intent import Intent
from jsctl.views.result import Result


@command("add", examples=["jsctl consumer pcgroup add ORDERS WORK m3 m4"])
@argument("stream")
@argument("pcgroup", metavar="GROUP")
@argument("members", metavar="MEMBER...", nargs=-1, required=True, label="Member")
@dry_run_flag()
async def add(env: Env, stream: str, pcgroup: str, members: tuple[str, ...]) -> Result:
    """Divide the partitions anew, so that the members get some; those who are there already stay. A running
    process of a member begins by itself.
    """
    api, group = await _open_elastic(env, stream, pcgroup, can_be_mapped=False)
    names = list(dict.fromkeys([*group.members, *members]))
    return await _change(env, api, group, {"members": names}, "add members to", asks=False)


@command(
    "drop",
    examples=["jsctl consumer pcgroup drop ORDERS WORK m1", "jsctl consumer cg drop ORDERS WORK m1 -f"],
)
@argument("stream")
@argument("pcgroup", metavar="GROUP")
@argument("members", metavar="MEMBER...", nargs=-1, required=True, label="Member", completes="member")
@destructive("Drop without asking")
async def drop(env: Env, stream: str, pcgroup: str, members: tuple[str, ...], force: bool) -> Result:
    """Divide the partitions between the members that stay. A process of a dropped member stops by itself."""
    api, group = await _open_elastic(env, stream, pcgroup, can_be_mapped=False)
    for member in members:
        group.check_member(member)
    names = [member for member in group.members if member not in members]
    return await _change(env, api, group, {"members": names}, "drop members from", force=force)


@command("create-mapping", examples=["jsctl consumer pcgroup create-mapping ORDERS WORK m1:0,1,2 m2:3"])
@argument("stream")
@argument("pcgroup", metavar="GROUP")
@argument("mappings", metavar="MEMBER:0,1...", nargs=-1, required=True, label="Mapping")
@destructive("Change the mapping without asking")
async def create_mapping(
    env: Env, stream: str, pcgroup: str, mappings: tuple[str, ...], force: bool
) -> Result:
    """Replace the members of the group by those named, each with its partitions: MEMBER:0,1. Each partition
    must be mapped to one member.
    """
    config = parse_members(mappings)
    if "member_mappings" not in config:
        raise BadInput("the partitions of the members are missing", "use MEMBER:0,1")
    api, group = await _open_elastic(env, stream, pcgroup)
    if len(group.config.get("partitioning_filters") or ()) > 1:
        raise BadInput(f"{group.label} has several filters, with which mapped members cannot begin")
    return await _change(env, api, group, config, "map members of", force=force)


@command("delete-mapping", examples=["jsctl consumer pcgroup delete-mapping ORDERS WORK"])
@argument("stream")
@argument("pcgroup", metavar="GROUP")
@destructive("Remove the mapping without asking")
async def delete_mapping(env: Env, stream: str, pcgroup: str, force: bool) -> Result:
    """Leave the group without members; jsctl consumer pcgroup add adds some."""
    api, group = await _open_elastic(env, stream, pcgroup)
    if not group.config.get("member_mappings"):
        env.inform(f"jsctl: {group.label} has no mapping, nothing was changed")
        return view_group(group, await groups.fetch_consumers(api, group))
    return await _change(env, api, group, {}, "remove the mapping of", force=force)


async def _open_elastic(env: Env, stream: str, name: str, *, can_be_mapped: bool = True) -> tuple[Api, Group]:
    """Return an elastic group. can_be_mapped: whether partitions may be mapped to its members."""
    api, group = await open_group(env, stream, name, None)
    if group.kind == "static":
        raise BadInput(f"{group.label} is static: its members cannot change", "create another group")
    if group.config.get("member_mappings") and not can_be_mapped:
        line = build_line("consumer pcgroup create-mapping", group.stream, group.name)
        raise BadInput(f"{group.label} has mapped members", f"{line} replaces them")
    return api, group


async def _change(
    env: Env,
    api: Api,
    group: Group,
    config: Mapping[str, Any],
    action: str,
    *,
    asks: bool = True,
    force: bool = False,
) -> Result:
    """Change the members of a group after a question, and show it."""
    after = groups.with_members(group, config)
    consumers = await groups.fetch_consumers(api, after)
    if after.config == group.config:
        env.inform(f"jsctl: {group.label} has these members already, nothing was changed")
        return view_group(group, consumers)
    moved = [number for number, member in group.owners.items() if after.owners.get(number, member) != member]
    facts = {"stream": group.stream, "group": group.name, "config": after.config, "moves": moved}
    members = ", ".join(after.members) or "no members, so that nobody reads it"
    count = pluralize(len(moved), "partition")
    moves = f", and {count} ({format_partitions(moved)}) change their member" if moved else ""
    intent = Intent(f"{action} {group.label}, which then has {members}{moves}", facts)
    if asks:
        await env.confirm(intent, force=force)
    env.announce(intent)
    return view_group(await groups.change_members(api, group, after), consumers)
