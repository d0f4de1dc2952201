"""Messages that the server deletes when a configuration changes, estimated before it is asked to.

Tried on nats-server 2.15 with file and memory storage (server: filestore.go UpdateConfig, consumer.go
updateConfig and stopWithFlags): a lower age or number of messages per subject deletes in any case, a lower
limit of messages or bytes unless the stream discards new messages; interest retention deletes what no
consumer needs.
"""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from jsctl.base.units import format_bytes, format_rfc3339, parse_time_ns, pluralize
from jsctl.errors import JsctlError
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.consumer.config import get_filters
from jsctl.jetstream.message import browse
from jsctl.jetstream.message.purge_estimate import estimate_purge
from jsctl.jetstream.stream import requests as streams
from jsctl.nats.subjects import covers, overlaps

MAX_SUBJECTS = 1_000_000
"""Maximum number of subjects that are counted one by one; with more, the least possible number is given."""


class Precision(StrEnum):
    """How exactly the number of messages is known."""

    EXACT = "exact"
    ABOUT = "about"
    AT_LEAST = "at least"
    UP_TO = "up to"
    UNKNOWN = "unknown"


class DataLoss(NamedTuple):
    """What a change deletes. bytes: estimated where the messages are many."""

    messages: int = 0
    bytes: int = 0
    precision: Precision = Precision.EXACT

    def __bool__(self) -> bool:
        """Return whether anything may be deleted."""
        return self.messages > 0 or self.precision is Precision.UNKNOWN

    def __str__(self) -> str:
        """Return it for people: `990 messages (12 KiB)`."""
        is_unknown = self.precision is Precision.UNKNOWN
        return self.format_count() + ("" if is_unknown else f" ({format_bytes(self.bytes)})")

    def format_count(self) -> str:
        """Return the number for people: `at least 990 messages`."""
        if self.precision is Precision.UNKNOWN:
            return "an unknown number of messages"
        words = "" if self.precision is Precision.EXACT else f"{self.precision} "
        return f"{words}{pluralize(self.messages, 'message')}"

    def to_json(self) -> Json:
        """Return it for --json: `deletes_messages` (null: unknown), `deletes_bytes` and
        `deletes_precision`."""
        is_unknown = self.precision is Precision.UNKNOWN
        return {
            "deletes_messages": None if is_unknown else self.messages,
            "deletes_bytes": None if is_unknown else self.bytes,
            "deletes_precision": str(self.precision),
        }

    def exceeds(self, announced: "DataLoss") -> bool:
        """Return whether more would be deleted than was announced."""
        if announced.precision is Precision.UNKNOWN:
            return False
        return self.precision is Precision.UNKNOWN or self.messages > announced.messages


NOTHING = DataLoss()
UNKNOWN = DataLoss(precision=Precision.UNKNOWN)


def add_losses(losses: Sequence[DataLoss]) -> DataLoss:
    """Return the sum of what several changes delete."""
    losses = [loss for loss in losses if loss]
    if len(losses) == 1:
        return losses[0]
    precisions = {loss.precision for loss in losses}
    order = (Precision.UNKNOWN, Precision.AT_LEAST, Precision.UP_TO, Precision.ABOUT)
    precision = next((each for each in order if each in precisions), Precision.EXACT)
    if {Precision.AT_LEAST, Precision.UP_TO} <= precisions:
        precision = Precision.ABOUT
    return DataLoss(sum(loss.messages for loss in losses), sum(loss.bytes for loss in losses), precision)


def measure_stream(info: Json) -> DataLoss:
    """Return what the removal of a stream deletes."""
    return DataLoss(int(info["state"]["messages"]), int(info["state"]["bytes"]))


async def estimate_stream_loss(api: Api, info: Json, after: Json) -> DataLoss:
    """Return what the server deletes when a stream's configuration changes.

    info: the stream's, just fetched; after: the configuration to send. Where several limits delete, the
    largest loss is given as the least. Raises nothing but Unreachable: what the login may not ask is unknown.
    """
    state = info["state"]
    if not state["messages"]:
        return NOTHING
    try:
        losses = [loss async for loss in _iterate_losses(api, info, after) if loss]
    except JsctlError:
        return UNKNOWN
    if not losses:
        return NOTHING
    largest = max(losses)
    if len(losses) == 1 or largest.messages >= int(state["messages"]):
        return largest
    return largest._replace(precision=Precision.AT_LEAST)


async def _iterate_losses(api: Api, info: Json, after: Json) -> AsyncIterator[DataLoss]:
    before, state = info["config"], info["state"]
    messages, size = int(state["messages"]), int(state["bytes"])
    if after.get("discard", "old") == "old":
        limit = int(after.get("max_msgs") or -1)
        if 0 < limit < messages:
            yield DataLoss(*(await estimate_purge(api, info, keep=limit))[:2])
        limit = int(after.get("max_bytes") or -1)
        if 0 < limit < size:
            # The server deletes whole messages from the first one, until the rest fits.
            yield DataLoss(max(1, round(messages * (size - limit) / size)), size - limit, Precision.ABOUT)
    if _is_lower(before, after, "max_age"):
        yield await _estimate_expired(api, info, int(after["max_age"]))
    if _is_lower(before, after, "max_msgs_per_subject"):
        yield await _estimate_per_subject(api, info, int(after["max_msgs_per_subject"]))
    if after.get("retention") == "interest" and before.get("retention", "limits") != "interest":
        yield await _estimate_without_interest(api, info)


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
    return DataLoss(*(await estimate_purge(api, info, sequence=first_kept.sequence))[:2])


async def _estimate_per_subject(api: Api, info: Json, limit: int) -> DataLoss:
    """Return how many messages are beyond a limit for each subject."""
    state = info["state"]
    messages, subjects = int(state["messages"]), int(state.get("num_subjects") or 0)
    if subjects > MAX_SUBJECTS:
        surplus, precision = max(1, messages - subjects * limit), Precision.AT_LEAST
    else:
        counts = await streams.count_subjects(api, str(info["config"]["name"]))
        surplus, precision = sum(max(0, count - limit) for count in counts.values()), Precision.EXACT
    return DataLoss(surplus, _share(info, surplus), precision)


async def _estimate_without_interest(api: Api, info: Json) -> DataLoss:
    """Return how many messages no consumer needs any more: exactly all without consumers, else at most what
    the consumer that is furthest behind has had."""
    if not int(info["state"].get("consumer_count") or 0):
        return measure_stream(info)
    listed = await consumers.list_consumers(api, str(info["config"]["name"]))
    messages = int(info["state"]["messages"])
    needed = max((count_outstanding(consumer) for consumer in listed.infos), default=0)
    surplus = max(0, messages - needed)
    return DataLoss(surplus, _share(info, surplus), Precision.UP_TO)


async def estimate_consumer_loss(api: Api, stream: Json, consumer: Json, after: Json | None) -> DataLoss:
    """Return what the server deletes when a consumer changes or (after: None) is removed: in a stream with
    interest retention, what no consumer needs any more.

    stream, consumer: infos, just fetched. What the login may not ask is unknown.
    """
    if stream["config"].get("retention") != "interest" or not stream["state"]["messages"]:
        return NOTHING
    filters_before = get_filters(consumer["config"])
    filters_after = None if after is None else get_filters(after)
    if filters_after is not None and sorted(filters_before) == sorted(filters_after):
        return NOTHING
    try:
        others = [
            other
            for other in (await consumers.list_consumers(api, str(stream["config"]["name"]))).infos
            if other["name"] != consumer["name"] and _may_need_same(other["config"], filters_before)
        ]
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
    precision = Precision.UP_TO if others else Precision.EXACT
    return DataLoss(messages, _share(stream, messages), precision)


def count_outstanding(consumer: Json) -> int:
    """Return how many messages a consumer has still to acknowledge or to receive. consumer: its info."""
    return int(consumer.get("num_pending") or 0) + int(consumer.get("num_ack_pending") or 0)


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
    common = list(_iterate_common(before, after))
    return common or None


def _iterate_common(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    for old in before:
        for new in after:
            if covers(old, new):
                yield new
            elif covers(new, old):
                yield old


def _share(info: Mapping[str, Json], messages: int) -> int:
    """Return the bytes of some of a stream's messages, as many as they have on average."""
    state = info["state"]
    return round(int(state["bytes"]) * messages / int(state["messages"])) if state["messages"] else 0
