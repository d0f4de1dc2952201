"""Estimates of the messages that the server deletes when a configuration changes, made before it is asked to.

Tried on nats-server 2.15 with file and memory storage (server: filestore.go UpdateConfig, consumer.go
updateConfig and stopWithFlags): a lower age or number of messages per subject deletes in any case, a lower
limit of messages or bytes unless the stream discards new messages; interest retention deletes what no
consumer needs.
"""

import itertools
from collections.abc import AsyncIterator, Collection, Mapping, Sequence

from jsctl.base.units import format_rfc3339, parse_time_ns
from jsctl.errors import JsctlError
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.consumer.config import get_filters
from jsctl.jetstream.message import browse
from jsctl.jetstream.message.data_loss import NOTHING, UNKNOWN, DataLoss, Precision, measure_stream
from jsctl.jetstream.message.purge_estimate import estimate_purge
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.subjects import covers, overlaps

MAX_SUBJECTS = 1_000_000
"""Maximum number of subjects that are counted one by one; with more, the least possible number is given."""


async def estimate_stream_loss(
    api: Api, info: Json, after: Json, new_consumers: Sequence[Json] = ()
) -> DataLoss:
    """Return what the server deletes when a stream's configuration changes.

    info: the stream's, just fetched; after: the configuration to send. new_consumers: configurations of
    those that will be created before. Where several limits delete, the
    largest loss is given as the least. Raises nothing but Unreachable: what the login may not ask is unknown.
    """
    state = info["state"]
    if not state["messages"]:
        return NOTHING
    try:
        losses = [loss async for loss in _iterate_losses(api, info, after, new_consumers) if loss]
    except JsctlError:
        return UNKNOWN
    if not losses:
        return NOTHING
    largest = max(losses)
    if len(losses) == 1 or largest.messages >= int(state["messages"]):
        return largest
    return largest._replace(precision=Precision.AT_LEAST)


async def _iterate_losses(
    api: Api, info: Json, after: Json, new_consumers: Sequence[Json]
) -> AsyncIterator[DataLoss]:
    before, state = info["config"], info["state"]
    messages, size = int(state["messages"]), int(state["bytes"])
    if after.get("discard", "old") == "old":
        limit = int(after.get("max_msgs") or -1)
        if 0 < limit < messages:
            yield await estimate_purge(api, info, keep=limit)
        limit = int(after.get("max_bytes") or -1)
        if 0 < limit < size:
            # The server deletes whole messages from the first one, until the rest fits.
            surplus = max(1, round(messages * (size - limit) / size))
            yield DataLoss(surplus, size - limit, Precision.ABOUT, exact=False)
    if _is_lower(before, after, "max_age"):
        yield await _estimate_expired(api, info, int(after["max_age"]))
    if _is_lower(before, after, "max_msgs_per_subject"):
        yield await _estimate_per_subject(api, info, int(after["max_msgs_per_subject"]))
    if after.get("retention") == "interest" and before.get("retention", "limits") != "interest":
        yield await _estimate_without_interest(api, info, new_consumers)


def _is_lower(before: Json, after: Json, key: str) -> bool:
    """Return whether a limit is set for the first time, or lower than before."""
    old_limit, new_limit = int(before.get(key) or 0), int(after.get(key) or 0)
    return new_limit > 0 and (old_limit <= 0 or new_limit < old_limit)


async def _estimate_expired(api: Api, info: Json, max_age: int) -> DataLoss:
    """Return how many messages are older than `max_age` (ns)."""
    state = info["state"]
    cutoff = parse_time_ns(info["ts"]) - max_age
    if parse_time_ns(state["first_ts"]) > cutoff:
        return NOTHING
    if parse_time_ns(state["last_ts"]) <= cutoff:
        return measure_stream(info)
    first_kept = await browse.fetch_since(api, str(info["config"]["name"]), format_rfc3339(cutoff))
    if first_kept is None:
        return measure_stream(info)
    return await estimate_purge(api, info, sequence=first_kept.sequence)


async def _estimate_per_subject(api: Api, info: Json, limit: int) -> DataLoss:
    """Return how many messages are beyond a limit for each subject."""
    state = info["state"]
    messages, subjects = int(state["messages"]), int(state.get("num_subjects") or 0)
    if subjects > MAX_SUBJECTS:
        surplus, precision = max(1, messages - subjects * limit), Precision.AT_LEAST
    else:
        counts = await streams.count_subjects(api, str(info["config"]["name"]))
        surplus, precision = sum(max(0, count - limit) for count in counts.values()), Precision.EXACT
    return _share(info, surplus, precision)


async def _estimate_without_interest(api: Api, info: Json, new_consumers: Sequence[Json]) -> DataLoss:
    """Return how many messages no consumer needs any more: exactly all without consumers, else at most those
    beyond what the consumers need that share no messages, or the one that is furthest behind."""
    known = await _list_consumers(api, info, new_consumers)
    if not known:
        return measure_stream(info)
    needs = [count_outstanding(consumer) for consumer in known]
    is_shared = any(
        _may_need_same(one["config"], get_filters(other["config"]))
        for one, other in itertools.combinations(known, 2)
    )
    surplus = max(0, int(info["state"]["messages"]) - (max(needs) if is_shared else sum(needs)))
    return _share(info, surplus, Precision.UP_TO)


async def _list_consumers(api: Api, info: Json, new_consumers: Sequence[Json]) -> list[Json]:
    """Return the infos of a stream's consumers, with those of new ones as they will be: what they need of
    the stream is certain if they begin with its first message, and else taken for nothing."""
    known: list[Json] = []
    if int(info["state"].get("consumer_count") or 0):
        known += (await consumers.list_consumers(api, str(info["config"]["name"]))).infos
    for config in new_consumers:
        has_all = config.get("deliver_policy", "all") == "all"
        pending = await _count_matching(api, info, get_filters(config)) if has_all else 0
        known.append({"name": config["name"], "config": config, "num_pending": pending})
    return known


async def estimate_consumer_loss(
    api: Api,
    stream: Json,
    consumer: Json,
    after: Json | None,
    new_consumers: Sequence[Json] = (),
    created: Collection[str] = (),
) -> DataLoss:
    """Return what the server deletes when a consumer changes or (after: None) is removed: in a stream with
    interest retention, what no consumer needs any more.

    An idle consumer that gets a threshold of inactivity, or a lower one, will be removed by the server.
    stream, consumer: infos, just fetched. new_consumers: as in estimate_stream_loss; created: names of those
    that exist by now. Others may be about to go, too. What the login may not ask is unknown.
    """
    if stream["config"].get("retention") != "interest" or not stream["state"]["messages"]:
        return NOTHING
    will_expire = after is not None and _will_expire(consumer, after)
    if will_expire:
        after = None
    filters_before = get_filters(consumer["config"])
    filters_after = None if after is None else get_filters(after)
    if filters_after is not None and sorted(filters_before) == sorted(filters_after):
        return NOTHING
    try:
        others = await _list_sharing(api, stream, consumer, new_consumers)
        lasting = {*created, *(config["name"] for config in new_consumers)}
        for other in others:
            if other["name"] in lasting and await _needs_all(api, stream, other, filters_before):
                return NOTHING
        messages = int(stream["state"]["messages"])
        if filters_before and others:
            messages = count_outstanding(consumer)
        elif filters_before:
            messages = await _count_matching(api, stream, filters_before)
        if filters_after is not None:
            messages -= await _count_matching(api, stream, _intersect(filters_before, filters_after))
    except JsctlError:
        return UNKNOWN
    messages = max(0, messages)
    precision = Precision.UP_TO if others or will_expire else Precision.EXACT
    return _share(stream, messages, precision)


async def estimate_reset_loss(api: Api, stream: Json, consumer: Json, sequence: int) -> DataLoss:
    """Return what the server deletes when a consumer continues at a sequence: in a stream with interest
    retention, what it skips and no other one needs.

    stream, consumer: infos, just fetched. What the login may not ask is unknown.
    """
    if stream["config"].get("retention") != "interest" or not stream["state"]["messages"]:
        return NOTHING
    filters = get_filters(consumer["config"])
    try:
        subject = filters[0] if len(filters) == 1 else ""
        loss = await estimate_purge(api, stream, subject=subject, sequence=sequence)
        others = await _list_sharing(api, stream, consumer)
    except JsctlError:
        return UNKNOWN
    return loss._replace(precision=Precision.UP_TO) if others or len(filters) > 1 else loss


def count_outstanding(consumer: Json) -> int:
    """Return how many messages a consumer has still to acknowledge or to receive. consumer: its info."""
    return int(consumer.get("num_pending") or 0) + int(consumer.get("num_ack_pending") or 0)


def _will_expire(consumer: Json, after: Json) -> bool:
    """Return whether a consumer that nobody uses gets a threshold of inactivity, or a lower one."""
    is_in_use = consumer.get("push_bound") or int(consumer.get("num_waiting") or 0)
    return not is_in_use and _is_lower(consumer["config"], after, "inactive_threshold")


async def _needs_all(api: Api, stream: Json, other: Json, filters: Sequence[str]) -> bool:
    """Return whether another consumer still needs every message that matches the filters."""
    own = get_filters(other["config"])
    if own and not all(any(covers(one, each) for one in own) for each in filters or [">"]):
        return False
    return count_outstanding(other) >= await _count_matching(api, stream, own)


async def _list_sharing(
    api: Api, stream: Json, consumer: Json, new_consumers: Sequence[Json] = ()
) -> list[Json]:
    """List the stream's other consumers that may need messages that this one needs."""
    filters = get_filters(consumer["config"])
    return [
        other
        for other in await _list_consumers(api, stream, new_consumers)
        if other["name"] != consumer["name"] and _may_need_same(other["config"], filters)
    ]


def _may_need_same(config: Json, filters: Sequence[str]) -> bool:
    """Return whether a consumer may need messages that one with `filters` needs."""
    return any(overlaps(own, other) for own in get_filters(config) or [">"] for other in filters or [">"])


async def _count_matching(api: Api, stream: Json, filters: Sequence[str] | None) -> int:
    """Return how many messages of a stream match filters that do not overlap; none without filters is all."""
    if filters is None:
        return 0
    name = str(stream["config"]["name"])
    if not filters:
        return int(stream["state"]["messages"])
    counts = [await streams.count_subjects(api, name, each) for each in filters]
    return sum(sum(count.values()) for count in counts)


def _intersect(before: Sequence[str], after: Sequence[str]) -> Sequence[str] | None:
    """Return the filters for what matches both; None for nothing. Where filters overlap in part, the narrower
    one is taken, so that the loss is rather too large than too small."""
    if not before:
        return after
    if not after:
        return before
    pairs = itertools.product(before, after)
    common = [new if covers(old, new) else old for old, new in pairs if covers(old, new) or covers(new, old)]
    return common or None


def _share(info: Mapping[str, Json], messages: int, precision: Precision) -> DataLoss:
    """Return the loss of some of a stream's messages, which have as many bytes as all have on average."""
    state = info["state"]
    total = int(state["messages"])
    size = round(int(state["bytes"]) * messages / total) if total else 0
    return DataLoss(messages, size, precision, exact=messages in (0, total))
