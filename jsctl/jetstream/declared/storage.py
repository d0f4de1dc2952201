"""Whether servers have the storage that streams of a plan reserve (server: jetstream.go checkBytesLimits,
jetstream_cluster.go selectPeerGroup)."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from jsctl.base.loops import gather
from jsctl.base.units import format_bytes, pluralize
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.declared.checks import is_unclustered
from jsctl.jetstream.declared.step import Step, get_storage, group_by_place
from jsctl.jetstream.stream import requests as streams
from jsctl.jetstream.stream.replicas import fits_placement


class StorageSource(NamedTuple):
    """Who says what storage is left. fetch_servers: returns what servers say of themselves, as in
    `list_free_servers`, each with `free`: bytes by kind of storage; nothing where the login does not see it.
    may_create: whether a server that is alone may be asked by a request to create a stream which it refuses.
    """

    fetch_servers: Callable[[Api], Awaitable[Sequence[Json]]]
    may_create: bool


async def refuse_oversized(steps: Sequence[Step], source: StorageSource) -> tuple[list[Step], list[str]]:
    """Return the steps, those refused for which servers have no room, and sentences about what is not
    known."""
    reserving = group_by_place(
        step
        for step in steps
        if not (step.consumer or step.part or step.refused or step.target.is_missing) and _count_wanted(step)
    )
    found = await gather(_check_place(group, source) for group in reserving.values())
    refused = {step.key: reason for refusals, _ in found for step, reason in refusals}
    checked = [
        step._replace(refused={_get_key(step): refused[step.key]}) if step.key in refused else step
        for step in steps
    ]
    return checked, [text for _, text in found if text]


def _get_key(step: Step) -> str:
    return "max_bucket_size" if step.kind else "max_bytes"


async def _check_place(steps: Sequence[Step], source: StorageSource) -> tuple[list[tuple[Step, str]], str]:
    """Return which steps of one place are refused, and why; and a sentence if that is not known."""
    api = steps[0].target.api
    replies = await source.fetch_servers(api)
    if servers := [server for server in replies if str(server.get("domain") or "") == api.own_domain]:
        changed = [step.stream for step in steps if step.action == "change"]
        infos = await streams.fetch_infos(api, changed)
        groups = {name: info.get("cluster") or {} for name, info in zip(changed, infos, strict=True)}
        return find_unplaceable(steps, servers, groups), ""
    if source.may_create:
        kinds = [[step for step in steps if get_storage(step) == kind] for kind in ("file", "memory")]
        return [refusal for group in kinds for refusal in await _ask(api, group)], ""
    if is_unclustered(api):  # it places nothing elsewhere
        steps = [step for step in steps if count_reserved(step)]
    if not steps:
        return [], ""
    size = format_bytes(sum(map(_count_wanted, steps)))
    return [], (
        f"{steps[0].position}: whether servers have room for {size} that {pluralize(len(steps), 'stream')}"
        f" {'reserves' if len(steps) == 1 else 'reserve'} is not known: this login does not see their storage"
    )


def find_unplaceable(
    steps: Sequence[Step], servers: Iterable[Json], groups: Mapping[str, Json]
) -> list[tuple[Step, str]]:
    """Return the steps for which no cluster has as many servers with room as they need. Each stream goes to
    the servers that have most. groups: `cluster` of the info of the streams that exist."""
    own = [{**server, "free": {**server["free"]}} for server in servers]
    return [(step, why) for step in steps if (why := _place(step, own, groups.get(step.stream, {})))]


def _place(step: Step, servers: Sequence[Json], group: Json) -> str:
    """Take what a stream reserves from what servers have left; return why that is not possible.

    Those that have the stream need room for what is added, and so does the meta leader, which checks that
    first, whether it has the stream or not (stream.go configUpdateCheckLocked). Others need room for all.
    """
    kind, config, added = get_storage(step), step.after or {}, count_reserved(step)
    size, wanted = int(config["max_bytes"]), int(config.get("num_replicas") or 1)
    holders: list[Json] = []
    if step.action == "change" and not _is_move(step):
        names = {group.get("leader"), *(each.get("name") for each in group.get("replicas") or ())} - {None}
        holders = [server for server in servers if not group or server.get("name") in names]
        for server in [*holders, *(server for server in servers if server.get("leads"))]:
            if (left := int(server["free"][kind])) < added:
                place = f"server {server['name']}" if group else "servers"
                return f"{place} has {format_bytes(left)} of {kind} storage left for it"
        wanted = max(0, wanted - max(1, len(names)))
    clusters: dict[str, list[dict[str, int]]] = {}
    for server in servers:
        cluster = str(server.get("cluster") or "")
        is_possible = not holders or cluster == str(group.get("name") or "")
        if is_possible and server not in holders and fits_placement(server, config):
            clusters.setdefault(cluster, []).append(server["free"])
    choices = [sorted(free, key=lambda each: -each[kind])[:wanted] for free in clusters.values()]
    for chosen in choices if wanted else [[]]:
        if len(chosen) == wanted and all(free[kind] >= size for free in chosen):
            for free, taken in [
                *((each, size) for each in chosen),
                *((each["free"], added) for each in holders),
            ]:
                free[kind] -= taken
            return ""
    most = max((each[kind] for chosen in choices for each in chosen[wanted - 1 :]), default=0)
    return f"servers have {format_bytes(most)} of {kind} storage left for it"


async def _ask(api: Api, steps: Sequence[Step]) -> list[tuple[Step, str]]:
    """Return the first step for whose `max_bytes`, with those of the steps before it, a server that is alone
    has no room, with the reason; nothing if there is none. steps: of one kind of storage."""
    totals = list(accumulate(map(count_reserved, steps)))

    async def fits(number: int) -> bool:
        config = {"name": steps[number].stream, "storage": get_storage(steps[number]), "num_replicas": 1}
        return await streams.has_room(api, {**config, "max_bytes": totals[number]})

    first, last = 0, len(steps) - 1
    if not steps or await fits(last):
        return []
    while first < last:
        middle = (first + last) // 2
        first, last = (middle + 1, last) if await fits(middle) else (first, middle)
    return [(steps[first], f"the server has less {get_storage(steps[first])} storage left for streams")]


def count_reserved(step: Step) -> int:
    """Return how many bytes a step reserves for a stream, in each of the replicas that there are."""
    size, old_size = (max(0, int((each or {}).get("max_bytes") or 0)) for each in (step.after, step.before))
    return max(0, size - old_size)


def _count_wanted(step: Step) -> int:
    """Return how many bytes a step reserves on some server: all of a stream where it is not yet."""
    size, old, new = int((step.after or {}).get("max_bytes") or 0), step.before or {}, step.after or {}
    is_scaled = int(new.get("num_replicas") or 1) > int(old.get("num_replicas") or 1)
    return max(0, size) if is_scaled or _is_move(step) else count_reserved(step)


def _is_move(step: Step) -> bool:
    """Whether servers for all replicas of a stream that exists are chosen anew."""
    has_changed = step.action == "change" and "placement" in step.changed_keys
    return has_changed and bool((step.after or {}).get("placement"))
