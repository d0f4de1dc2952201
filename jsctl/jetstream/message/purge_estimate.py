"""Estimates of what a purge would remove, for the question that is asked before."""

from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.message import browse
from jsctl.jetstream.message.data_loss import DataLoss, measure_stream
from jsctl.jetstream.message.gaps import count_deleted_before
from jsctl.jetstream.stream import requests as streams

_SAMPLE = 1000
"""Maximum number of messages that are read for their size; beyond it, the size is estimated from these."""

_MIN_BULK = 10
"""Number of messages above which a batch is faster than single requests."""


async def estimate_purge(
    api: Api, info: Json, *, subject: str = "", sequence: int = 0, keep: int = 0
) -> DataLoss:
    """Return what STREAM.PURGE with these limits would remove from a stream now.

    sequence: only messages before it. keep: number of the newest messages that stay.
    """
    name = str(info["config"]["name"])
    everything = measure_stream(info)
    matching = everything.messages
    if subject:
        matching = sum((await streams.count_subjects(api, name, subject)).values())
    messages = matching
    if keep:
        messages = max(0, matching - keep)
    elif sequence:
        messages = await _count_before(api, info, sequence, subject, matching)
    if messages == everything.messages:
        return everything
    size, sampled = await _measure_sample(api, info, subject, messages) if messages else (0, 0)
    if sampled < messages:
        size = round(size * messages / sampled) if sampled else 0
    return DataLoss(messages, size, exact=sampled == messages)


async def _measure_sample(api: Api, info: Json, subject: str, messages: int) -> tuple[int, int]:
    """Return the size in bytes of the first messages, all or a sample, and their number."""
    config, state = info["config"], info["state"]
    stored = browse.read(
        api,
        str(config["name"]),
        start=int(state["first_seq"]),
        subject=subject,
        last=int(state["last_seq"]),
        bulk=bool(config.get("allow_direct")) and messages > _MIN_BULK,
    )
    size = sampled = 0
    async for message in stored:
        size += browse.compute_stored_size(message, str(config.get("storage", "file")))
        sampled += 1
        if sampled >= min(messages, _SAMPLE):
            break
    return size, sampled


async def _count_before(api: Api, info: Json, sequence: int, subject: str, matching: int) -> int:
    """Return how many messages are before a sequence. matching: the number on the subject in all."""
    state, name = info["state"], str(info["config"]["name"])
    first, last = int(state["first_seq"]), int(state["last_seq"])
    if sequence <= first:
        return 0
    if sequence > last:
        return matching
    if not subject:
        return sequence - first - await count_deleted_before(api, info, sequence)
    count_by_replica = await browse.count_before(api, name, sequence, subject, matching)
    if count_by_replica is not None:
        return count_by_replica
    count = 0
    async for message in browse.read(api, name, start=first, subject=subject):
        if message.sequence >= sequence:
            break
        count += 1
    return count
