"""The messages that the steps of a plan delete, estimated for all steps of a stream together.

Consumers that go at the same time do not keep messages for each other, and new ones, which come first, do.
"""

import asyncio
from collections.abc import Callable, Sequence

from jsctl.base.loops import gather
from jsctl.jetstream.api import Json
from jsctl.jetstream.config.origins import list_origins
from jsctl.jetstream.declared.step import Step
from jsctl.jetstream.message.change_estimate import Changes, estimate_losses
from jsctl.jetstream.message.data_loss import NOTHING, UNKNOWN, DataLoss
from jsctl.jetstream.message.takers import list_taken
from jsctl.jetstream.stream import requests as streams
from jsctl.jetstream.stream.protection import endangers

FindProtection = Callable[[Json, DataLoss], dict[str, str]]
"""Returns why messages of a stream may not be deleted, by key; empty if they may."""

_MAX_PARALLEL = 32


async def with_losses(steps: Sequence[Step], find_protection: FindProtection) -> list[Step]:
    """Return the steps with what they delete, each at most and those of a stream together, and with what they
    take out of work queues. Raises what requests raise."""
    groups: dict[object, list[Step]] = {}
    for step in steps:
        if not step.part:
            groups.setdefault((step.target.key, step.stream), []).append(step)
    gate = asyncio.Semaphore(_MAX_PARALLEL)

    async def estimate(group: Sequence[Step]) -> list[Step]:
        async with gate:
            return await _estimate(group, find_protection)

    changed = await gather(
        estimate(group) for group in groups.values() if any(step.action != "create" for step in group)
    )
    by_key = {step.key: step for group in changed for step in group}
    steps = [by_key.get(step.key, step) for step in steps]

    async def find_taken(step: Step) -> Step:
        async with gate:
            taken = await list_taken(step.target.api, step.after or {}, step.before)
        refused = {
            key: f"{each.origin} {reason}"
            for each in taken
            if each.info
            for key, reason in find_protection(each.info["config"], each.loss).items()
        }
        return step._replace(taken=taken, refused={**step.refused, **refused})

    copies = [step for step in steps if list_origins(step.after or {}) and not step.target.is_missing]
    by_key = {step.key: step for step in await gather(map(find_taken, copies))}
    return [by_key.get(step.key, step) for step in steps]


async def _estimate(group: Sequence[Step], find_protection: FindProtection) -> list[Step]:
    """Return the steps about one stream with what they delete. The removal of a stream says it already."""
    change = next((step for step in group if not step.consumer), None)
    if change and change.action == "remove":
        return list(group)
    # A stream with another name is a copy of the old one, and lacks nothing.
    old_name = change.other_name if change else ""
    info = await streams.fetch_info_or_none(group[0].target.api, old_name or group[0].stream)
    if info is None:
        return list(group)
    after = change.after if change and change.action == "change" else None
    created = [step.after or {} for step in group if step.consumer and step.action == "create"]
    if change and change.begins_interest and not change.follows_new_consumers:
        created = []
    losses = await estimate_losses(
        group[0].target.api,
        info,
        Changes(
            config=after,
            consumers={
                step.consumer: step.after for step in group if step.consumer and step.action != "create"
            },
            created=created,
        ),
    )
    retention = str((after or info["config"]).get("retention") or "limits")
    found: list[Step] = []
    for step in group:
        if step is change and step.action == "create":  # of another stream
            found.append(step)
            continue
        loss = losses.consumers.get(step.consumer, NOTHING) if step.consumer else losses.stream
        is_risky = step is change and endangers(info["config"], after or {})
        protection = find_protection(info["config"], UNKNOWN if is_risky else loss)
        refused = {**step.refused, **protection}
        found.append(step._replace(loss=loss, together=losses.total, retention=retention, refused=refused))
    return found
