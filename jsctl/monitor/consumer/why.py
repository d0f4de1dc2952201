"""Why a consumer does not move: causes with the numbers that show them, and what would help.

`fetch_facts` asks the server; `find_causes` is pure. What the numbers mean: nats-server consumer.go
(hasMaxDeliveries: a message given up leaves `num_ack_pending` and stays in `num_redelivered`).
"""

import asyncio
from collections.abc import Iterator
from typing import Any, NamedTuple

from jsctl.errors import ApiError, NoResponders, RequestTimeout
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.consumer.config import get_filters
from jsctl.jetstream.state import peers as follower_names
from jsctl.jetstream.stream import requests as streams
from jsctl.monitor.consumer.rows import count_messages
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
    """What the server says. consumer, stream: their infos, empty where they could not be had.
    silent: why not. matching: messages in the stream that the filters take."""

    stream_name: str
    name: str
    consumer: Json
    stream: Json
    matching: int | None = None
    silent: str = ""


async def fetch_facts(api: Api, stream: str, name: str) -> Facts:
    """Ask what there is to know. Raises ApiError when there is no such stream or consumer."""
    found, around = await asyncio.gather(
        _asked(consumers.info(api, stream, name)), _asked(streams.info(api, stream))
    )
    if isinstance(found, str) or isinstance(around, str):
        return await _silent(api, stream, name, found, around)
    matching = await _matching(api, found, around)
    return Facts(stream, name, found, around, matching)


def find_causes(facts: Facts) -> list[Cause]:
    """All that is found, the worst first; one that says that all is well when nothing is."""
    found = list(_leaders(facts))
    if facts.consumer:
        found += _delivery(facts)
    if not found:
        found = [_well(facts)]
    order = {STOPPED: 0, SLOW: 1, FINE: 2}
    return sorted(found, key=lambda cause: order[cause.weight])


async def _asked(call: Any) -> Json | str:
    """The reply, or why there is none."""
    try:
        reply: Json = await call
        return reply
    except (RequestTimeout, NoResponders) as error:
        return error.message
    except ApiError as error:
        if error.code == 404:
            raise
        return str(error)


async def _silent(api: Api, stream: str, name: str, consumer: Json | str, around: Json | str) -> Facts:
    """What the rest of the cluster knows of those that do not answer."""
    if isinstance(around, str):
        if stream not in await streams.names(api):  # the cluster's leader answers for all
            raise ApiError(404, streams.NOT_FOUND, f"stream {stream} not found", "jsctl stream ls")
        return Facts(stream, name, {}, {}, None, around)
    assert isinstance(consumer, str)
    if name not in await consumers.names(api, stream):
        raise ApiError(404, consumers.NOT_FOUND, f"consumer {stream} > {name} not found")
    return Facts(stream, name, {}, around, None, consumer)


async def _matching(api: Api, consumer: Json, stream: Json) -> int | None:
    wanted = get_filters(consumer["config"])
    if not wanted:
        return int(stream["state"].get("messages", 0))
    found = await asyncio.gather(*(count_messages(api, consumer["stream_name"], only) for only in wanted))
    known = [number for number in found if number is not None]
    return sum(known) if len(known) == len(found) else None


def _leaders(facts: Facts) -> Iterator[Cause]:
    names = f"{facts.stream_name} {facts.name}"
    if not facts.stream:
        yield Cause(
            "stream without leader", STOPPED,
            f"stream {facts.stream_name} does not answer: too few of its replicas are there to lead it",
            {"said": facts.silent}, "jsctl server report jetstream",
        )  # fmt: skip
        return
    for what, info, which in (
        ("stream", facts.stream, facts.stream_name),
        ("consumer", facts.consumer, names),
    ):
        group = info.get("cluster") or {}
        peers = follower_names(group)
        if not info or ((group.get("raft_group") or peers) and not group.get("leader")):
            numbers: dict[str, Any] = {"peers": list(peers)} if info else {"said": facts.silent}
            away = [peer for peer in peers if peer.endswith("!")]
            there = f": {len(away)} of its {len(peers)} followers are away or behind" if away else ""
            help = (
                f"jsctl {what} cluster step-down {which} --force" if info else "jsctl server report jetstream"
            )
            yield Cause(f"{what} without leader", STOPPED, f"the {what} has no leader{there}", numbers, help)


def _delivery(facts: Facts) -> Iterator[Cause]:
    info, config = facts.consumer, facts.consumer["config"]
    names = f"{facts.stream_name} {facts.name}"
    pending = int(info.get("num_pending", 0))
    unacked, most = int(info.get("num_ack_pending", 0)), int(config.get("max_ack_pending", 0))
    if info.get("paused"):
        left = int(info.get("pause_remaining", 0))
        until = config.get("pause_until", "")
        yield Cause(
            "paused", STOPPED,
            f"it is paused until {format_time(until)}, still {format_duration(whole_seconds(left))}",
            {"pause_until": until, "pause_remaining": left}, f"jsctl consumer resume {names}",
        )  # fmt: skip
    if 0 < most <= unacked:
        yield Cause(
            "ack pending at its limit", STOPPED,
            f"{_say(unacked, 'waits', 'wait')} for acknowledgement, and it may have {format_count(most)}:"
            " nothing more is delivered before clients acknowledge",
            {"num_ack_pending": unacked, "max_ack_pending": most},
            f"jsctl consumer edit {names} --max-pending {most * 2}",
        )  # fmt: skip
    yield from _receivers(facts, names, pending)
    yield from _given_up(facts, names)
    if unacked and not pending and not 0 < most <= unacked:
        yield _waiting_for_acks(info, names, unacked)
    if not pending and not unacked:
        yield from _nothing(facts, names)
    if pending and config.get("replay_policy") == "original":
        yield Cause("original pace", SLOW, "it delivers messages as far apart as they were stored",
                    {"replay_policy": "original"})  # fmt: skip
    if pending and (rate := int(config.get("rate_limit_bps") or 0)):
        yield Cause("rate limit", SLOW, f"it may deliver {format_count(rate)} bits a second",
                    {"rate_limit_bps": rate})  # fmt: skip


def _receivers(facts: Facts, names: str, pending: int) -> Iterator[Cause]:
    info, config = facts.consumer, facts.consumer["config"]
    target = config.get("deliver_subject")
    numbers: dict[str, Any] = {"num_pending": pending}
    if target and not info.get("push_bound"):
        group = config.get("deliver_group")
        who = f"nobody listens on its delivery subject {target}" + (
            f" in queue group {group}" if group else ""
        )
        queue = f" --queue {group}" if group else ""
        yield Cause(
            "no interest", STOPPED, f"{who}; a subscription has to be to exactly this subject, no wildcard",
            {**numbers, "deliver_subject": target, "push_bound": False}, f"jsctl sub {target}{queue}",
        )  # fmt: skip
    elif not target and pending and not info.get("num_waiting"):
        last = age((info.get("delivered") or {}).get("last_active"), info.get("ts"))
        since = f"; the last delivery was {format_duration(last)} ago" if last != NEVER else ""
        yield Cause(
            "no waiting pulls", STOPPED,
            f"{_say(pending, 'is', 'are')} there and no client asks for more: 0 pulls wait{since}",
            {**numbers, "num_waiting": 0}, f"jsctl consumer next {names}",
        )  # fmt: skip
    for group in info.get("priority_groups") or []:
        if group.get("pinned_client_id") and pending and config.get("priority_policy") == "pinned_client":
            yield Cause(
                "pinned", SLOW,
                f"group {group.get('group')} is pinned to client {group['pinned_client_id']}: others wait",
                {"pinned_client_id": group["pinned_client_id"], "pinned_ts": group.get("pinned_ts")},
                f"jsctl consumer unpin {names} {group.get('group')}",
            )  # fmt: skip


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
        _say(redelivered - unacked, "was", "were")
        if redelivered > unacked
        else f"some of the messages from sequence {format_count(at + 1)} to {format_count(last)} were"
    )
    tries = "1 try" if most == 1 else f"{format_count(most)} tries"
    yield Cause(
        "max deliver reached", SLOW if unacked or info.get("num_pending") else STOPPED,
        f"{what} given up after {tries} without acknowledgement;"
        f" the acknowledgement floor stays at {format_count(at)}",
        {"max_deliver": most, "num_redelivered": redelivered, "num_ack_pending": unacked, "ack_floor": at,
         "delivered": last},
        f"jsctl consumer reset {names}" if info["config"]["deliver_policy"] in consumers.RESETTABLE else "",
    )  # fmt: skip


def _waiting_for_acks(info: Json, names: str, unacked: int) -> Cause:
    config = info["config"]
    waits = [int(wait) for wait in config.get("backoff") or []]
    again = int(info.get("num_redelivered", 0))
    numbers: dict[str, Any] = {"num_ack_pending": unacked, "num_redelivered": again}
    last = age((info.get("delivered") or {}).get("last_active"), info.get("ts"))
    ago = f", the last one {format_duration(last)} ago" if last != NEVER else ""
    if waits:
        steps = ", ".join(map(exact_duration, waits))
        return Cause(
            "in backoff", SLOW,
            f"{_say(unacked, 'was', 'were')} delivered{ago}, to come again only after the backoff: {steps}",
            {**numbers, "backoff": waits}, f"jsctl consumer edit {names} --backoff 1s",
        )  # fmt: skip
    wait = int(config.get("ack_wait", 0))
    return Cause(
        "waiting for acknowledgements", SLOW,
        f"{_say(unacked, 'was', 'were')} delivered{ago}, to come again after {exact_duration(wait)}"
        " without an acknowledgement",
        {**numbers, "ack_wait": wait}, f"jsctl consumer edit {names} --wait 5s",
    )  # fmt: skip


def _nothing(facts: Facts, names: str) -> Iterator[Cause]:
    """Nothing is left to deliver: because nothing matches, or because it starts later."""
    config, state = facts.consumer["config"], facts.stream["state"]
    wanted, messages = get_filters(config), int(state.get("messages", 0))
    numbers: dict[str, Any] = {"num_pending": 0, "messages": messages}
    if not messages:
        yield Cause("empty stream", FINE, f"stream {facts.stream_name} holds no messages", numbers)
    elif wanted and facts.matching == 0:
        taken = facts.stream["config"].get("subjects") or []
        never = taken and not any(overlap(have, only) for have in taken for only in wanted)
        why = f"; the stream takes {', '.join(taken)}, which it can never match" if never else ""
        yield Cause(
            "filter matches nothing", STOPPED,
            f"no message of the stream ({format_count(messages)}) has a subject that its filter takes"
            f" ({', '.join(wanted)}){why}",
            {**numbers, "matching": 0, "filters": wanted}, f"jsctl stream subjects {facts.stream_name}",
        )  # fmt: skip
    start, last = int(config.get("opt_start_seq") or 0), int(state.get("last_seq", 0))
    if start > last:
        yield Cause(
            "starts later", STOPPED,
            f"it starts at sequence {format_count(start)}, and the stream is at {format_count(last)}",
            {**numbers, "opt_start_seq": start, "last_seq": last},
            f"jsctl consumer reset {names} --sequence {max(1, int(state.get('first_seq', 1)))}",
        )  # fmt: skip


def _well(facts: Facts) -> Cause:
    info = facts.consumer
    pending = int(info.get("num_pending", 0))
    delivered = int((info.get("delivered") or {}).get("stream_seq", 0))
    numbers = {"num_pending": pending, "delivered": delivered,
               "last_seq": int(facts.stream["state"].get("last_seq", 0))}  # fmt: skip
    if pending:
        return Cause("moving", FINE, f"nothing holds it: {_say(pending, 'is', 'are')} on the way", numbers)
    return Cause("done", FINE, "it has delivered everything that there is for it", numbers)


def _say(number: int, one: str, many: str) -> str:
    """`1 message waits`, `3 messages wait`."""
    return f"1 message {one}" if number == 1 else f"{format_count(number)} messages {many}"
