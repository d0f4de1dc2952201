"""Estimates of the messages that the server deletes when configurations change, made before it is asked to.

Tried on nats-server 2.15 with file and memory storage (server: filestore.go UpdateConfig, expireMsgs;
consumer.go updateConfig, stopWithFlags, resetStartingSeqLocked): a lower age or number of messages per
subject deletes in any case, a lower limit of messages or bytes unless the stream discards new messages, TTLs
that are switched on what has expired; interest retention deletes what no consumer needs (`needs`).
"""

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import NamedTuple

from jsctl.base.units import MINUTE, format_rfc3339, parse_time_ns
from jsctl.errors import JsctlError
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.config.origins import list_origin_filters, list_origins
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.consumer.config import get_filters
from jsctl.jetstream.message import browse
from jsctl.jetstream.message.data_loss import (
    NOTHING,
    UNKNOWN,
    DataLoss,
    Precision,
    measure_stream,
    merge_losses,
)
from jsctl.jetstream.message.gaps import Gap, find_gaps, needs_reading
from jsctl.jetstream.message.needs import (
    Need,
    Part,
    Range,
    Rules,
    count_deleted,
    is_scanned,
    list_bounds,
    may_lose_all,
    plan_need,
    read_need,
    reset_need,
    take_all,
)
from jsctl.jetstream.message.purge_estimate import estimate_purge
from jsctl.jetstream.message.schedule import parse_ttl
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.headers import find_header
from jsctl.nats.message import Message

MAX_SUBJECTS = 1_000_000
"""Maximum number of subjects that are counted one by one; with more, the least possible number is given."""

MAX_READ = 100_000
"""Maximum number of messages that are read for their subjects, sizes or headers by direct gets of batches."""
MAX_READ_SINGLY = 10_000
"""The same where each takes a request."""
_MAX_READ_BYTES = 64 << 20
_BATCH = 5000
"""Messages requested at once, which a busy server notices less than the change that follows."""


class Changes(NamedTuple):
    """What is about to change together, in any order.

    config: the stream's complete configuration; None if it stays. consumers: complete configurations by name,
    None for one that goes. created: configurations of new consumers, which are created first. resets:
    sequences at which consumers will continue, by name. takers: mirrors and sources that begin to copy it.
    """

    config: Json | None = None
    consumers: Mapping[str, Json | None] = {}
    created: Sequence[Json] = ()
    resets: Mapping[str, int] = {}
    takers: Sequence[Json] = ()


class Losses(NamedTuple):
    """What changes delete together, and what each of them deletes at most: that of the stream's
    configuration, and those of consumers by name."""

    total: DataLoss = NOTHING
    stream: DataLoss = NOTHING
    consumers: Mapping[str, DataLoss] = {}


async def estimate_losses(api: Api, info: Json, changes: Changes) -> Losses:
    """Return what the server deletes when a stream and its consumers change.

    info: the stream's, just fetched. Raises nothing but Unreachable: what the login may not ask is unknown.
    """
    if not info["state"]["messages"]:
        return Losses()
    if changes.config and changes.config.get("sealed"):  # the server sets that
        changes = changes._replace(config={**changes.config, "max_age": 0, "discard": "new"})
    held = measure_stream(info)
    try:
        limits = await _list_limit_losses(api, info, changes.config) if changes.config else []
        needs = await _estimate_needs(api, info, changes)
    except JsctlError:
        names = {*changes.consumers, *changes.resets}
        return Losses(UNKNOWN, UNKNOWN if changes.config else NOTHING, dict.fromkeys(names, UNKNOWN))
    return Losses(
        merge_losses([*limits, needs.total], held),
        merge_losses([*limits, needs.stream], held),
        needs.consumers,
    )


async def estimate_stream_loss(api: Api, info: Json, after: Json) -> DataLoss:
    """Return what the server deletes when a stream's configuration becomes `after`; see `estimate_losses`."""
    return (await estimate_losses(api, info, Changes(after))).total


# Limits of a stream.


async def _list_limit_losses(api: Api, info: Json, after: Json) -> list[DataLoss]:
    """Return what limits delete, which may be the same messages."""
    before = info["config"]
    losses = [await _estimate_head(api, info, after)]
    if _is_lower(before, after, "max_msgs_per_subject"):
        losses.append(await _estimate_per_subject(api, info, int(after["max_msgs_per_subject"])))
    if after.get("allow_msg_ttl") and not before.get("allow_msg_ttl"):
        losses.append(await _estimate_expired(api, info))
    return losses


def _is_lower(before: Json, after: Json, key: str) -> bool:
    """Return whether a limit is set for the first time, or lower than before."""
    old_limit, new_limit = int(before.get(key) or 0), int(after.get(key) or 0)
    return new_limit > 0 and (old_limit <= 0 or new_limit < old_limit)


async def _estimate_head(api: Api, info: Json, after: Json) -> DataLoss:
    """Return what is deleted from the first message on: the largest of what age, number and size delete."""
    before, state = info["config"], info["state"]
    messages, size = int(state["messages"]), int(state["bytes"])
    losses = [NOTHING]
    if _is_lower(before, after, "max_age"):
        losses.append(await _estimate_aged(api, info, int(after["max_age"])))
    if after.get("discard", "old") == "old":
        limit = int(after.get("max_msgs") or -1)
        if 0 < limit < messages:
            losses.append(await estimate_purge(api, info, keep=limit))
        limit = int(after.get("max_bytes") or -1)
        if 0 < limit < size:
            losses.append(await _estimate_surplus(api, info, size - limit))
    return max(losses)


async def _estimate_surplus(api: Api, info: Json, size: int) -> DataLoss:
    """Return the first messages that have at least `size` bytes together."""
    count = total = 0
    async for message in _read(api, info):
        if total >= size or count >= _get_reading_limit(info):
            break
        total += browse.compute_stored_size(message, str(info["config"].get("storage", "file")))
        count += 1
    return DataLoss(count, total) if total >= size else DataLoss(count, size, Precision.AT_LEAST)


async def _estimate_aged(api: Api, info: Json, max_age: int) -> DataLoss:
    """Return how many messages are older than `max_age` (ns), or will be within a minute."""
    cutoff = parse_time_ns(info["ts"]) - max_age
    loss = await _estimate_older(api, info, cutoff + MINUTE)
    if not loss:
        return loss
    is_exact = loss.messages == (await _estimate_older(api, info, cutoff)).messages
    is_exact = is_exact and await _are_ageing(api, info, loss.messages)
    return loss if is_exact else loss._replace(precision=Precision.UP_TO)


async def _estimate_older(api: Api, info: Json, cutoff: int) -> DataLoss:
    """Return how many messages are as old as a time (ns since the epoch), or older."""
    state = info["state"]
    if parse_time_ns(state["first_ts"]) > cutoff:
        return NOTHING
    if parse_time_ns(state["last_ts"]) <= cutoff:
        return measure_stream(info)
    first_kept = await browse.fetch_since(api, str(info["config"]["name"]), format_rfc3339(cutoff))
    last = int(state["last_seq"])
    return await estimate_purge(api, info, sequence=first_kept.sequence if first_kept else last + 1)


async def _are_ageing(api: Api, info: Json, count: int) -> bool:
    """Return whether none of so many first messages has a TTL of `never`, which goes before the age; with too
    many to look at, whether a stream is unlikely to have any."""
    if count > _get_reading_limit(info):
        return not (info["config"].get("allow_msg_ttl") or list_origins(info["config"]))
    async for message in _read(api, info):
        if not count:
            break
        if find_header(message.header_block, "Nats-TTL") == "never":
            return False
        count -= 1
    return True


async def _estimate_per_subject(api: Api, info: Json, limit: int) -> DataLoss:
    """Return how many messages are beyond a limit for each subject."""
    state = info["state"]
    messages, subjects = int(state["messages"]), int(state.get("num_subjects") or 0)
    if subjects > MAX_SUBJECTS:
        surplus = max(1, messages - subjects * limit)
        return _share(info, Range(surplus, surplus))._replace(precision=Precision.AT_LEAST)
    counts = await streams.count_subjects(api, str(info["config"]["name"]))
    surplus = sum(max(0, count - limit) for count in counts.values())
    return _share(info, Range(surplus, surplus))


async def _estimate_expired(api: Api, info: Json) -> DataLoss:
    """Return how many messages have a TTL that has ended. While a stream does not allow TTLs, it receives
    them from its origins only."""
    if int(info["state"]["messages"]) > _get_reading_limit(info):
        return UNKNOWN if list_origins(info["config"]) else NOTHING
    now, count = parse_time_ns(info["ts"]), 0
    async for message in _read(api, info):
        ttl = parse_ttl(find_header(message.header_block, "Nats-TTL"))
        count += ttl > 0 and parse_time_ns(message.timestamp) + ttl <= now
    return _share(info, Range(count, count))


# What consumers need.


async def _estimate_needs(api: Api, info: Json, changes: Changes) -> Losses:
    """Return what is deleted because no consumer needs it any more."""
    before = info["config"].get("retention", "limits")
    after = (changes.config or info["config"]).get("retention", "limits")
    begins = after not in ("limits", before)
    if after == "limits" or not (begins or changes.consumers or changes.resets or changes.takers):
        return Losses()
    known: list[Json] = []
    if int(info["state"].get("consumer_count") or 0):
        listed = await consumers.list_consumers(api, str(info["config"]["name"]))
        if listed.missing or listed.offline:
            raise JsctlError("consumers do not answer")
        known = list(listed.infos)
    state = info["state"]
    needs, may_go = _build_needs(known, changes)
    needs |= {str(config["name"]): plan_need(config, int(state["last_seq"])) for config in changes.created}
    for number, origin in enumerate(changes.takers):
        first = int(origin.get("opt_start_seq") or 0)
        needs[f"{number}/"] = take_all(list_origin_filters(origin), first, int(state["last_seq"]))
    concerned = {name: need for name, need in needs.items() if need.start or need.is_changed}
    if not (begins or concerned):
        return Losses()
    rules = Rules(int(state["first_seq"]), int(state["last_seq"]), after == "workqueue", begins)
    parts = await _fetch_parts(api, info, needs, concerned, rules)
    everything = list(needs.values())

    def count(by: Iterable[Need], *, begins: bool = False) -> DataLoss:
        return _share(info, count_deleted(parts, everything, rules._replace(begins=begins), by))

    losses = {name: count([need]) for name, need in concerned.items()}
    total = count(concerned.values(), begins=begins)
    is_vague = bool(changes.takers) and after == "interest"
    is_vague |= any(origin.get("opt_start_time") or origin.get("consumer") for origin in changes.takers)
    if may_go & concerned.keys() or is_vague:
        total = total._replace(precision=Precision.UP_TO)
    # What several delete together, each deletes at most.
    uncertain = may_go if len(losses) + begins < 2 else losses.keys()
    losses = {
        name: loss._replace(precision=Precision.UP_TO) if name in uncertain else loss
        for name, loss in losses.items()
    }
    return Losses(total, count([], begins=True) if begins else NOTHING, losses)


def _build_needs(infos: Iterable[Json], changes: Changes) -> tuple[dict[str, Need], set[str]]:
    """Return what consumers need after changes, by name, and the names of those that the server may remove
    later."""
    needs: dict[str, Need] = {}
    may_go: set[str] = set()
    for info in infos:
        name, need = str(info["name"]), read_need(info)
        if name in changes.resets:
            need = reset_need(need, changes.resets[name])
        if name in changes.consumers:
            after = changes.consumers[name]
            if after and _will_expire(info, after):
                may_go.add(name)
                after = None
            need = need._replace(new_filters=None if after is None else get_filters(after))
        needs[name] = need
    return needs, may_go


def _will_expire(consumer: Json, after: Json) -> bool:
    """Return whether a consumer that nobody uses gets a threshold of inactivity, or a lower one."""
    is_in_use = consumer.get("push_bound") or int(consumer.get("num_waiting") or 0)
    return not is_in_use and _is_lower(consumer["config"], after, "inactive_threshold")


async def _fetch_parts(
    api: Api, info: Json, needs: Mapping[str, Need], concerned: Mapping[str, Need], rules: Rules
) -> list[Part]:
    """Return the messages that may be deleted, in parts within which no consumer's need changes, with their
    subjects if these matter and can be found at an acceptable cost."""
    name, state = str(info["config"]["name"]), info["state"]
    if needs_reading(info):
        raise JsctlError("there are too many gaps to count messages")
    gaps = await find_gaps(api, info)
    start, end = _find_range(needs.values(), concerned.values(), rules, gaps)
    bounds = [bound for bound in list_bounds(needs.values()) if start <= bound < end]
    ranges = list(zip([start, *(bound + 1 for bound in bounds)], [*bounds, end], strict=True))
    parts = [Part(first, last, _count(first, last, gaps)) for first, last in ranges if first <= last]
    parts = [part for part in parts if part.messages]
    if not any(need.filters or need.new_filters for need in needs.values()):
        return parts
    total = sum(part.messages for part in parts)
    is_whole = total == int(state["messages"])
    if is_whole and len(parts) == 1 and int(state.get("num_subjects") or 0) <= MAX_SUBJECTS:
        counts = await streams.count_subjects(api, name)
        return [parts[0]._replace(messages=count, subject=subject) for subject, count in counts.items()]
    if not parts or total > _get_reading_limit(info):
        return parts
    found: Counter[tuple[int, str]] = Counter()
    number = 0
    async for message in _read(api, info, parts[0].first, parts[-1].last):
        while message.sequence > parts[number].last:
            number += 1
        found[number, message.subject] += 1
    return [parts[n]._replace(messages=count, subject=subject) for (n, subject), count in found.items()]


def _find_range(
    needs: Iterable[Need], concerned: Iterable[Need], rules: Rules, gaps: Sequence[Gap]
) -> tuple[int, int]:
    """Return the first and the last sequence of what may be deleted."""
    needs, concerned, starts, ends = list(needs), list(concerned), [rules.last + 1], [0]
    for need in concerned:
        is_passed = need.start or rules.is_queue or need.given_up.most or not is_scanned(need, rules)
        starts.append(rules.first if is_passed else need.floor)
        ends.append(need.start - 1 if need.start else rules.last)
    if may_lose_all(needs, concerned, rules):
        return rules.first, rules.last
    is_whole = rules.begins or all(need.new_filters is None for need in needs)
    start, end = (rules.first, rules.last) if is_whole else (min(starts), max(ends))
    for need in needs:
        # Without filters, a consumer keeps all that it has not got yet.
        missing = _count(need.delivered + 1, rules.last, gaps)
        if not need.filters and not need.is_changed and need.pending.least >= missing:
            end = min(end, need.delivered)
    return max(start, rules.first), min(end, rules.last)


def _count(first: int, last: int, gaps: Sequence[Gap]) -> int:
    """Return how many messages there are between two sequences (inclusive)."""
    missing = sum(max(0, min(last, end) - max(first, begin) + 1) for begin, end in gaps)
    return max(0, last - first + 1 - missing)


# Messages.


def _get_reading_limit(info: Json) -> int:
    """Return how many messages of a stream are read at most."""
    state = info["state"]
    average = max(1, int(state["bytes"]) // int(state["messages"]))
    return min(
        MAX_READ if info["config"].get("allow_direct") else MAX_READ_SINGLY, _MAX_READ_BYTES // average
    )


def _read(api: Api, info: Json, start: int = 0, last: int = 0) -> AsyncIterator[Message]:
    """Yield the messages between two sequences (inclusive), 0 for the first and the last."""
    config, state = info["config"], info["state"]
    return browse.read(
        api,
        str(config["name"]),
        start=start or int(state["first_seq"]),
        last=last or int(state["last_seq"]),
        bulk=bool(config.get("allow_direct")),
        batch=_BATCH,
    )


def _share(info: Json, count: Range) -> DataLoss:
    """Return the loss of so many of a stream's messages, which have as many bytes as all have on average."""
    state = info["state"]
    messages, total = count.most, int(state["messages"])
    size = round(int(state["bytes"]) * messages / total)
    precision = Precision.EXACT if count.least == count.most else Precision.UP_TO
    return DataLoss(messages, size, precision, exact=messages in (0, total))
