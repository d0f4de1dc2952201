"""Whether servers have the storage that streams of a plan reserve (server: jetstream.go checkBytesLimits,
jetstream_cluster.go selectPeerGroup)."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from jsctl.base.loops import gather
from jsctl.base.units import format_bytes, pluralize
from jsctl.jetstream.api import Api, Json
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
        if not (step.consumer or step.part or step.refused or step.target.is_missing) and count_reserved(step)
    )
    found = await gather(_check_place(group, source) for group in reserving.values())
    refused = {step.key: reason for refusals, _ in found for step, reason in refusals}
    checked = [
        step._replace(refused={"max_bytes": refused[step.key]}) if step.key in refused else step
        for step in steps
    ]
    return checked, [text for _, text in found if text]


async def _check_place(steps: Sequence[Step], source: StorageSource) -> tuple[list[tuple[Step, str]], str]:
    """Return which steps of one place are refused, and why; and a sentence if that is not known."""
    api = steps[0].target.api
    replies = await source.fetch_servers(api)
    if servers := [server for server in replies if str(server.get("domain") or "") == api.own_domain]:
        return find_unplaceable(steps, servers), ""
    if source.may_create:
        kinds = [[step for step in steps if get_storage(step) == kind] for kind in ("file", "memory")]
        return [refusal for group in kinds for refusal in await _ask(api, group)], ""
    size = format_bytes(sum(map(count_reserved, steps)))
    return [], (
        f"{steps[0].position}: whether servers have room for {size} that {pluralize(len(steps), 'stream')}"
        f" {'reserves' if len(steps) == 1 else 'reserve'} is not known: this login does not see their storage"
    )


def find_unplaceable(steps: Sequence[Step], servers: Iterable[Json]) -> list[tuple[Step, str]]:
    """Return the steps for which no cluster has as many servers with room as they have replicas. Each stream
    goes to the servers that have most."""
    clusters: dict[str, list[Json]] = {}
    for server in servers:
        own = {**server, "free": {**server["free"]}}
        clusters.setdefault(str(server.get("cluster") or ""), []).append(own)
    refused = []
    for step in steps:
        kind, size, config = get_storage(step), count_reserved(step), step.after or {}
        wanted, most = int(config.get("num_replicas") or 1), 0
        for members in clusters.values():
            fitting = [server["free"] for server in members if fits_placement(server, config)]
            chosen = sorted(fitting, key=lambda free: -free[kind])[:wanted]
            most = max([most, *(free[kind] for free in chosen[wanted - 1 :])])
            if len(chosen) == wanted and chosen[-1][kind] >= size:
                for free in chosen:
                    free[kind] -= size
                break
        else:
            refused.append((step, f"servers have {format_bytes(most)} of {kind} storage left for it"))
    return refused


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
    """Return how many bytes a step reserves for a stream, in each of its replicas."""
    size, old_size = (max(0, int((each or {}).get("max_bytes") or 0)) for each in (step.after, step.before))
    return max(0, size - old_size)
