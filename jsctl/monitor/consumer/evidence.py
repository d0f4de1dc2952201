"""What the infos of consumers do not show: at which message one stopped, and which messages none takes.

A message of a work queue stays until a consumer acknowledges it. One that was given up after its last
delivery is passed by the acknowledgement floor once a later one is acknowledged, and nothing counts it from
then on (nats-server: consumer.go, hasMaxDeliveries): messages are compared with what consumers hold.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from jsctl.base.command_lines import Suggestion, build_flag
from jsctl.base.units import format_count, join_some, pluralize
from jsctl.errors import JsctlError
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.consumer.config import get_filters
from jsctl.jetstream.message import browse
from jsctl.monitor.trouble import Trouble
from jsctl.nats.message import Message
from jsctl.nats.subjects import matches, overlaps

_MAX_ASKED = 200  #: streams, and consumers, that are looked at
_MAX_AT_ONCE = 16
_MAX_SUBJECTS = 20_000  #: of a stream whose subjects are compared with filters
_MAX_NAMED = 3


class Evidence(NamedTuple):
    """What was found. consumers: by stream and consumer, with the keys of `Facts.evidence`; of work queues,
    each consumer is there. streams: what is wrong with streams."""

    consumers: Mapping[str, Mapping[str, Json]] = {}
    streams: Mapping[str, Sequence[Trouble]] = {}


async def gather_evidence(
    api: Api, facts: Mapping[str, Json], infos: Iterable[Json], *, has_states: bool = False
) -> Evidence:
    """Look closer at consumers that stopped at their maximum of unacknowledged messages, and at work queues
    (and streams with interest retention) that hold more than their consumers count.

    facts: of streams, see `select_stream_facts`, fetched before the consumers. infos: of all their consumers.
    has_states: also ask for what servers store of consumers that may have given up messages of other streams,
    which takes a snapshot for each. What the login may not ask is left out.
    """
    by_stream: dict[str, list[Json]] = defaultdict(list)
    for info in infos:
        if info["stream_name"] in facts:
            by_stream[info["stream_name"]].append(info)
    gate = asyncio.Semaphore(_MAX_AT_ONCE)
    consumers: dict[str, dict[str, Json]] = defaultdict(dict)
    troubles: dict[str, Sequence[Trouble]] = {}

    async def add_blocked(info: Json) -> None:
        async with gate:
            floor = int((info.get("ack_floor") or {}).get("stream_seq", 0))
            if (message := await _fetch_first(api, info, floor + 1)) is not None:
                own = consumers[info["stream_name"]].setdefault(info["name"], {})
                own["blocked_at"] = [message.sequence, message.subject]

    async def compare_queue(name: str) -> None:
        async with gate:
            try:
                found, trouble = await _compare(api, name, facts[name], by_stream[name])
            except JsctlError:
                return
            troubles[name] = trouble
            for consumer, left in found.items():
                consumers[name].setdefault(consumer, {})["left"] = left

    async def add_given_up(info: Json) -> None:
        async with gate:
            left = await _find_given_up(api, info, facts[info["stream_name"]])
            if left is not None:
                consumers[info["stream_name"]].setdefault(info["name"], {})["left"] = left

    stopped = [info for own in by_stream.values() for info in own if _is_stopped(info)]
    queues = [name for name, own in by_stream.items() if is_queue(facts[name])]
    suspects = [name for name in queues if _count_unclaimed(facts[name], by_stream[name]) > 0]
    for name in queues:
        consumers[name] = {info["name"]: {"left": [0, 0, ""]} for info in by_stream[name]}
    others = [info for name, own in by_stream.items() if name not in queues for info in own]
    doubtful = [info for info in others if has_states and _may_have_given_up(info)]
    await asyncio.gather(
        *map(add_blocked, stopped[:_MAX_ASKED]),
        *map(compare_queue, suspects[:_MAX_ASKED]),
        *map(add_given_up, doubtful[:_MAX_ASKED]),
    )
    return Evidence(consumers, troubles)


def _is_stopped(info: Json) -> bool:
    limit = int((info.get("config") or {}).get("max_ack_pending") or 0)
    return 0 < limit <= int(info.get("num_ack_pending", 0)) and bool(info.get("num_pending"))


def _may_have_given_up(info: Json) -> bool:
    """Return whether a consumer may have given up messages: servers count those with several deliveries, and
    tell in no cluster which they are."""
    config = info["config"]
    most = 0 if config.get("ack_policy") == "none" else int(config.get("max_deliver") or 0)
    delivered = (
        (info.get("delivered") or {}).get("consumer_seq") if most == 1 else info.get("num_redelivered")
    )
    return most > 0 and bool(delivered) and "cluster" not in info


async def _find_given_up(api: Api, info: Json, facts: Json) -> list[object] | None:
    """Return how many messages a consumer has given up, and sequence and subject of the first one, by the
    state that the server stores; None if it does not tell."""
    from jsctl.jetstream.backup.consumer_state import fetch_consumer_state  # reports do not need it

    try:
        state = await fetch_consumer_state(api, info)
    except JsctlError:
        return None
    if isinstance(state, str):
        return None
    first = int(facts["state"]["first_seq"])
    given_up = sorted(one for one in state.redelivered if one not in state.pending and one >= first)
    async for sequence, message in browse.fetch_each(api, str(info["stream_name"]), given_up[:1]):
        return [len(given_up), sequence, message.subject if message else ""]
    return [0, 0, ""]


def is_queue(facts: Json) -> bool:
    """Return whether a stream keeps a message until it is acknowledged. facts: see `select_stream_facts`."""
    return str(facts["config"].get("retention", "limits")) != "limits"


def _count_unclaimed(facts: Json, infos: Iterable[Json]) -> int:
    """Return how many messages a stream has beyond those that its consumers have still to deliver or wait
    for."""
    claimed = sum(int(info.get("num_pending", 0)) + int(info.get("num_ack_pending", 0)) for info in infos)
    return int(facts["state"]["messages"]) - claimed


async def _compare(
    api: Api, name: str, facts: Json, infos: Sequence[Json]
) -> tuple[Mapping[str, list[object] | None], Sequence[Trouble]]:
    """Return the messages that each consumer has left behind, None where that is unknown, and those that
    no filter matches.

    The stream is asked after its consumers, so that what was acknowledged meanwhile is not counted; nor is
    what was published since `facts`.
    """
    now = await api.call(f"STREAM.INFO.{name}", {"subjects_filter": ">"})
    subjects: Mapping[str, int] = now["state"].get("subjects") or {}
    filters = [get_filters(one["config"]) for one in infos]
    if not 0 < len(subjects) <= _MAX_SUBJECTS or int(now.get("total", 0)) > len(subjects):
        return {}, ()
    left: dict[str, list[object] | None] = {}
    for one, own in zip(infos, filters, strict=True):
        # Others may need what it has acknowledged, also in a work queue: those of mirrors and sources.
        is_shared = any(_overlap(own, each) for each in filters if each is not own)
        left[one["name"]] = None if is_shared else await _find_left(api, facts, one, now)
    uncovered = [subject for subject in subjects if not any(_match(own, subject) for own in filters)]
    return left, [_describe_uncovered(name, uncovered, subjects)] if uncovered else ()


def _match(filters: Sequence[str], subject: str) -> bool:
    return not filters or any(matches(each, subject) for each in filters)


def _overlap(first: Sequence[str], second: Sequence[str]) -> bool:
    return any(overlaps(one, other) for one in first or [">"] for other in second or [">"])


async def _find_left(api: Api, facts: Json, info: Json, now: Json) -> list[object]:
    """Return how many messages a consumer has delivered and neither waits for nor will deliver again, at
    least, and sequence and subject of the first one, if it is known.

    facts: of the stream before the consumer's info. now: its info after that, with subjects.
    """
    subjects, filters = now["state"]["subjects"], get_filters(info["config"])
    delivered = int((info.get("delivered") or {}).get("stream_seq", 0))
    unacked = int(info.get("num_ack_pending", 0))
    total = sum(count for subject, count in subjects.items() if _match(filters, subject))
    if not delivered or total <= unacked or info["config"].get("deliver_policy", "all") != "all":
        return [0, 0, ""]
    published = max(0, int(now["state"]["last_seq"]) - int(facts["state"]["last_seq"]))
    count = total - int(info.get("num_pending", 0)) - published
    if facts["config"].get("num_replicas", 1) == 1:  # a follower may lag
        count = await _count_up_to(api, info, delivered, subjects) or count
    count = max(0, count - unacked)
    first = await _fetch_first(api, info, 1)
    passed = delivered if not unacked else int((info.get("ack_floor") or {}).get("stream_seq", 0))
    if first is None or first.sequence > passed:
        return [count, 0, ""]
    return [max(count, 1), first.sequence, first.subject]


async def _count_up_to(api: Api, info: Json, sequence: int, subjects: Mapping[str, int]) -> int | None:
    """Return how many messages up to a sequence match a consumer's filters; None without direct gets."""
    total = 0
    for subject in get_filters(info["config"]) or [">"]:
        matching = sum(count for each, count in subjects.items() if matches(subject, each))
        count = await browse.count_before(api, str(info["stream_name"]), sequence + 1, subject, matching)
        if count is None:
            return None
        total += count
    return total


async def _fetch_first(api: Api, info: Json, sequence: int) -> Message | None:
    """Return the first message, beginning at a sequence, that a consumer's filters match; None if it is not
    known."""
    try:
        messages = [
            await browse.fetch_next(api, str(info["stream_name"]), sequence, subject)
            for subject in get_filters(info["config"]) or [">"]
        ]
    except JsctlError:
        return None
    return min(filter(None, messages), key=lambda message: message.sequence, default=None)


def _describe_uncovered(name: str, uncovered: Sequence[str], subjects: Mapping[str, int]) -> Trouble:
    count = sum(subjects[subject] for subject in uncovered)
    named = join_some(sorted(uncovered), _MAX_NAMED)
    filters = [word for subject in sorted(uncovered) for word in build_flag("--filter", subject)]
    return Trouble(
        f"{format_count(count)} for no consumer",
        True,
        "NOT_CONSUMED",
        f"no consumer's filter matches {pluralize(count, 'message')} on {named}",
        [Suggestion("consumer add", [name], filters if len(uncovered) <= _MAX_NAMED else [])],
    )
