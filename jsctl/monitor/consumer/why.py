"""Why a consumer does not move: causes with the numbers that show them, and what would help.

`fetch_facts` asks the server; `find_causes` is pure. What the numbers mean: nats-server consumer.go
(hasMaxDeliveries: a message given up leaves `num_ack_pending` and stays in `num_redelivered`).
"""

import asyncio
from collections.abc import Coroutine, Iterator
from typing import Any, NamedTuple

from jsctl.errors import ApiError, NoResponders, RequestTimeout
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.consumer.config import get_filters
from jsctl.jetstream.state import peers as follower_names
from jsctl.jetstream.stream import requests as streams
from jsctl.monitor.consumer.rows import count_messages
from jsctl.nats.codes import ErrorCode
from jsctl.nats.subjects import overlap
from jsctl.units import (
    NEVER,
    age,
    exact_duration,
    format_count,
    format_duration,
    format_time,
    whole_seconds,
)

STOPPED, SLOW, FINE = "stopped", "slow", "fine"


class Cause(NamedTuple):
    """One reason.

    kind: a word for programs. weight: STOPPED when nothing is delivered, SLOW when less is than could be,
    FINE for no fault. says: a sentence. numbers: what shows it. help: a command that would help, or empty.
    """

    kind: str
    weight: str
    says: str
    numbers: dict[str, Any]
    help: str = ""


class Facts(NamedTuple):
    """What the server knows about a consumer.

    consumer, stream: their infos, empty where they could not be fetched. silent: why not. matching: messages
    in the stream that the filters match, None where that is unknown.
    """

    stream_name: str
    name: str
    consumer: Json
    stream: Json
    matching: int | None = None
    silent: str = ""


async def fetch_facts(api: Api, stream: str, name: str) -> Facts:
    """Fetch all that helps to find causes. Raises ApiError when there is no such stream or consumer."""
    consumer_info, stream_info = await asyncio.gather(
        _info_or_reason(consumers.info(api, stream, name)), _info_or_reason(streams.info(api, stream))
    )
    if isinstance(stream_info, str):
        if stream not in await streams.names(api):  # the cluster's leader answers for all
            raise ApiError(404, ErrorCode.STREAM_NOT_FOUND, f"stream {stream} not found", "jsctl stream ls")
        return Facts(stream, name, {}, {}, silent=stream_info)
    if isinstance(consumer_info, str):
        if name not in await consumers.names(api, stream):
            raise ApiError(404, ErrorCode.CONSUMER_NOT_FOUND, f"consumer {stream} > {name} not found")
        return Facts(stream, name, {}, stream_info, silent=consumer_info)
    matching = await _count_matching(api, consumer_info, stream_info)
    return Facts(stream, name, consumer_info, stream_info, matching)


def find_causes(facts: Facts) -> list[Cause]:
    """Returns all causes, the worst first; one that says that all is well when there is none."""
    causes = list(_leaders(facts))
    if facts.consumer:
        causes += _delivery(facts)
    if not causes:
        causes = [_all_well(facts)]
    order = {STOPPED: 0, SLOW: 1, FINE: 2}
    return sorted(causes, key=lambda cause: order[cause.weight])


async def _info_or_reason(request: Coroutine[Any, Any, Json]) -> Json | str:
    """Returns the reply, or why there is none."""
    try:
        return await request
    except (RequestTimeout, NoResponders) as error:
        return error.message
    except ApiError as error:
        if error.code == 404:
            raise
        return str(error)


async def _count_matching(api: Api, consumer: Json, stream: Json) -> int | None:
    subjects = get_filters(consumer["config"])
    if not subjects:
        return int(stream["state"].get("messages", 0))
    counts = await asyncio.gather(
        *(count_messages(api, consumer["stream_name"], subject) for subject in subjects)
    )
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _leaders(facts: Facts) -> Iterator[Cause]:
    names = f"{facts.stream_name} {facts.name}"
    if not facts.stream:
        yield Cause(
            kind="stream without leader",
            weight=STOPPED,
            says=f"stream {facts.stream_name} does not answer: too few of its replicas are there to lead it",
            numbers={"said": facts.silent},
            help="jsctl server report jetstream",
        )
        return
    for what, info, which in (
        ("stream", facts.stream, facts.stream_name),
        ("consumer", facts.consumer, names),
    ):
        group = info.get("cluster") or {}
        peers = follower_names(group)
        if info and (group.get("leader") or not (group.get("raft_group") or peers)):
            continue
        away = [peer for peer in peers if peer.endswith("!")]
        details = f": {len(away)} of its {len(peers)} followers are away or behind" if away else ""
        step_down = f"jsctl {what} cluster step-down {which} --force"
        yield Cause(
            kind=f"{what} without leader",
            weight=STOPPED,
            says=f"the {what} has no leader{details}",
            numbers={"peers": list(peers)} if info else {"said": facts.silent},
            help=step_down if info else "jsctl server report jetstream",
        )


def _delivery(facts: Facts) -> Iterator[Cause]:
    info, config = facts.consumer, facts.consumer["config"]
    names = f"{facts.stream_name} {facts.name}"
    pending = int(info.get("num_pending", 0))
    unacked, most = int(info.get("num_ack_pending", 0)), int(config.get("max_ack_pending", 0))
    if info.get("paused"):
        left = int(info.get("pause_remaining", 0))
        until = config.get("pause_until", "")
        yield Cause(
            kind="paused",
            weight=STOPPED,
            says=f"it is paused until {format_time(until)}, still {format_duration(whole_seconds(left))}",
            numbers={"pause_until": until, "pause_remaining": left},
            help=f"jsctl consumer resume {names}",
        )
    if 0 < most <= unacked:
        yield Cause(
            kind="ack pending at its limit",
            weight=STOPPED,
            says=f"{_messages(unacked, 'waits', 'wait')} for acknowledgement, and it may have"
            f" {format_count(most)}: nothing more is delivered before clients acknowledge",
            numbers={"num_ack_pending": unacked, "max_ack_pending": most},
            help=f"jsctl consumer edit {names} --max-pending {most * 2}",
        )
    yield from _receivers(facts, names, pending)
    yield from _given_up(facts, names)
    if unacked and not pending and not 0 < most <= unacked:
        yield _waiting_for_acks(info, names, unacked)
    if not pending and not unacked:
        yield from _nothing_pending(facts, names)
    if pending and config.get("replay_policy") == "original":
        yield Cause(
            kind="original pace",
            weight=SLOW,
            says="it delivers messages as far apart as they were stored",
            numbers={"replay_policy": "original"},
        )
    if pending and (rate := int(config.get("rate_limit_bps") or 0)):
        yield Cause(
            kind="rate limit",
            weight=SLOW,
            says=f"it may deliver {format_count(rate)} bits per second",
            numbers={"rate_limit_bps": rate},
        )


def _receivers(facts: Facts, names: str, pending: int) -> Iterator[Cause]:
    info, config = facts.consumer, facts.consumer["config"]
    target = config.get("deliver_subject")
    if target and not info.get("push_bound"):
        group = config.get("deliver_group")
        in_group = f" in queue group {group}" if group else ""
        queue = f" --queue {group}" if group else ""
        yield Cause(
            kind="no interest",
            weight=STOPPED,
            says=f"nobody listens on its delivery subject {target}{in_group}; a subscription has to be to"
            " exactly this subject, no wildcard",
            numbers={"num_pending": pending, "deliver_subject": target, "push_bound": False},
            help=f"jsctl sub {target}{queue}",
        )
    elif not target and pending and not info.get("num_waiting"):
        last = _last_delivery(info)
        since = f"; the last delivery was {format_duration(last)} ago" if last != NEVER else ""
        yield Cause(
            kind="no waiting pulls",
            weight=STOPPED,
            says=f"{_messages(pending, 'is', 'are')} there and no client asks for more: 0 pulls wait{since}",
            numbers={"num_pending": pending, "num_waiting": 0},
            help=f"jsctl consumer next {names}",
        )
    for group in info.get("priority_groups") or []:
        if group.get("pinned_client_id") and pending and config.get("priority_policy") == "pinned_client":
            client = group["pinned_client_id"]
            yield Cause(
                kind="pinned",
                weight=SLOW,
                says=f"group {group.get('group')} is pinned to client {client}: others wait",
                numbers={"pinned_client_id": client, "pinned_ts": group.get("pinned_ts")},
                help=f"jsctl consumer unpin {names} {group.get('group')}",
            )


def _given_up(facts: Facts, names: str) -> Iterator[Cause]:
    info, most = facts.consumer, int(facts.consumer["config"].get("max_deliver", -1))
    redelivered, unacked = int(info.get("num_redelivered", 0)), int(info.get("num_ack_pending", 0))
    delivered, floor = info.get("delivered") or {}, info.get("ack_floor") or {}
    stuck = not unacked and int(floor.get("consumer_seq", 0)) < int(delivered.get("consumer_seq", 0))
    if most <= 0 or not (redelivered > unacked or stuck) or facts.consumer["config"]["ack_policy"] == "none":
        return
    at, last = int(floor.get("stream_seq", 0)), int(delivered.get("stream_seq", 0))
    # The server counts those that were delivered more than once; with one try there are none.
    what = (
        _messages(redelivered - unacked, "was", "were")
        if redelivered > unacked
        else f"some of the messages from sequence {format_count(at + 1)} to {format_count(last)} were"
    )
    tries = "1 try" if most == 1 else f"{format_count(most)} tries"
    resettable = info["config"]["deliver_policy"] in consumers.RESETTABLE
    yield Cause(
        kind="max deliver reached",
        weight=SLOW if unacked or info.get("num_pending") else STOPPED,
        says=f"{what} given up after {tries} without acknowledgement;"
        f" the acknowledgement floor stays at {format_count(at)}",
        numbers={
            "max_deliver": most,
            "num_redelivered": redelivered,
            "num_ack_pending": unacked,
            "ack_floor": at,
            "delivered": last,
        },
        help=f"jsctl consumer reset {names}" if resettable else "",
    )


def _waiting_for_acks(info: Json, names: str, unacked: int) -> Cause:
    config = info["config"]
    backoff = [int(wait) for wait in config.get("backoff") or []]
    numbers: dict[str, Any] = {
        "num_ack_pending": unacked,
        "num_redelivered": int(info.get("num_redelivered", 0)),
    }
    last = _last_delivery(info)
    ago = f", the last one {format_duration(last)} ago" if last != NEVER else ""
    delivered = f"{_messages(unacked, 'was', 'were')} delivered{ago}"
    if backoff:
        steps = ", ".join(map(exact_duration, backoff))
        return Cause(
            kind="in backoff",
            weight=SLOW,
            says=f"{delivered}, to come again only after the backoff: {steps}",
            numbers={**numbers, "backoff": backoff},
            help=f"jsctl consumer edit {names} --backoff 1s",
        )
    wait = int(config.get("ack_wait", 0))
    return Cause(
        kind="waiting for acknowledgements",
        weight=SLOW,
        says=f"{delivered}, to come again after {exact_duration(wait)} without an acknowledgement",
        numbers={**numbers, "ack_wait": wait},
        help=f"jsctl consumer edit {names} --wait 5s",
    )


def _nothing_pending(facts: Facts, names: str) -> Iterator[Cause]:
    """Nothing is left to deliver: because nothing matches, or because it starts later."""
    config, state = facts.consumer["config"], facts.stream["state"]
    subjects, messages = get_filters(config), int(state.get("messages", 0))
    numbers: dict[str, Any] = {"num_pending": 0, "messages": messages}
    if not messages:
        yield Cause("empty stream", FINE, f"stream {facts.stream_name} holds no messages", numbers)
    elif subjects and facts.matching == 0:
        stored = facts.stream["config"].get("subjects") or []
        never = stored and not any(overlap(one, subject) for one in stored for subject in subjects)
        why = f"; the stream takes {', '.join(stored)}, which it can never match" if never else ""
        yield Cause(
            kind="filter matches nothing",
            weight=STOPPED,
            says=f"no message of the stream ({format_count(messages)}) has a subject that its filter takes"
            f" ({', '.join(subjects)}){why}",
            numbers={**numbers, "matching": 0, "filters": subjects},
            help=f"jsctl stream subjects {facts.stream_name}",
        )
    start, last = int(config.get("opt_start_seq") or 0), int(state.get("last_seq", 0))
    if start > last:
        first = max(1, int(state.get("first_seq", 1)))
        yield Cause(
            kind="starts later",
            weight=STOPPED,
            says=f"it starts at sequence {format_count(start)}, and the stream is at {format_count(last)}",
            numbers={**numbers, "opt_start_seq": start, "last_seq": last},
            help=f"jsctl consumer reset {names} --sequence {first}",
        )


def _all_well(facts: Facts) -> Cause:
    info = facts.consumer
    pending = int(info.get("num_pending", 0))
    numbers = {
        "num_pending": pending,
        "delivered": int((info.get("delivered") or {}).get("stream_seq", 0)),
        "last_seq": int(facts.stream["state"].get("last_seq", 0)),
    }
    if pending:
        return Cause(
            "moving", FINE, f"nothing holds it: {_messages(pending, 'is', 'are')} on the way", numbers
        )
    return Cause("done", FINE, "it has delivered everything that there is for it", numbers)


def _last_delivery(info: Json) -> int:
    """Returns ns since then, NEVER for none."""
    return age((info.get("delivered") or {}).get("last_active"), info.get("ts"))


def _messages(number: int, one: str, many: str) -> str:
    """Returns `1 message waits`, `3 messages wait`."""
    return f"1 message {one}" if number == 1 else f"{format_count(number)} messages {many}"
