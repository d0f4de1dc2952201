"""Why a consumer does not move on: causes, the numbers that show them, and what would help. No I/O.

`consumer why` shows all of the diagnosis; `jsctl report` and `consumer report` show the causes that are
trouble, in a few words. What the numbers mean: nats-server consumer.go (hasMaxDeliveries: a message given up
leaves `num_ack_pending` and stays in `num_redelivered`; a message that is delivered once is in neither).
"""

from collections.abc import Iterator, Sequence
from typing import Any

from jsctl.base.command_lines import Suggestion, build_flag
from jsctl.base.units import (
    NEVER,
    SECOND,
    format_count,
    format_duration,
    format_exact_duration,
    format_time,
    pluralize,
    truncate_to_seconds,
)
from jsctl.jetstream.api import Json
from jsctl.jetstream.consumer.config import get_filters
from jsctl.jetstream.consumer.requests import RESETTABLE
from jsctl.jetstream.state import format_followers as follower_names
from jsctl.monitor.consumer.facts import (
    FINE,
    NOBODY,
    SLOW,
    STOPPED,
    WAITING,
    Cause,
    Delivery,
    Facts,
    read_delivery,
)
from jsctl.monitor.trouble import Trouble, find_lagging_replicas, has_leader
from jsctl.nats.subjects import overlaps

_ORDER = {STOPPED: 0, SLOW: 1, WAITING: 2, FINE: 3}
_RECENT = (
    10 * SECOND
)  #: ns since a delivery: a client that pulls repeatedly does not have a pull open all the time


def find_causes(facts: Facts) -> list[Cause]:
    """Return all causes, the worst first; a single one without fault when nothing is wrong."""
    causes = list(_diagnose_servers(facts))
    if facts.consumer:
        causes += _diagnose_delivery(facts, read_delivery(facts.consumer))
    return sorted(causes or [_describe_healthy(facts)], key=lambda cause: _ORDER[cause.weight])


def find_troubles(facts: Facts) -> list[Trouble]:
    """Return what is wrong with a consumer, the worst first; the same as `find_causes`, in a few words."""
    return [
        cause.trouble._replace(says=cause.says, help=_select_help(cause))
        for cause in find_causes(facts)
        if cause.trouble
    ]


def _select_help(cause: Cause) -> Sequence[Suggestion]:
    """Return what mends a trouble. What has messages redelivered sooner mends no redeliveries."""
    is_remedy = cause.trouble is not None and cause.trouble.code != "REDELIVERED"
    return [cause.help] if cause.help and is_remedy else []


def _diagnose_servers(facts: Facts) -> Iterator[Cause]:
    if not facts.stream and facts.silent:
        yield Cause(
            kind="stream without leader",
            weight=STOPPED,
            says=f"stream {facts.stream_name} does not answer: too few of its replicas are online"
            " to elect a leader",
            numbers={"said": facts.silent},
            help=Suggestion("server report jetstream"),
            trouble=Trouble("stream without leader", True, "STREAM_NO_LEADER"),
        )
        return
    for kind, info in (("stream", facts.stream), ("consumer", facts.consumer)):
        has_answer = bool(info) or (kind == "stream" and not facts.silent)
        if has_answer and has_leader(info):
            continue
        followers = follower_names(info.get("cluster") or {})
        away = [peer for peer in followers if peer.endswith("!")]
        verb = "is" if len(away) == 1 else "are"
        details = (
            f": {len(away)} of its {pluralize(len(followers), 'follower')} {verb} away or behind"
            if away
            else ""
        )
        yield Cause(
            kind=f"{kind} without leader",
            weight=STOPPED,
            says=f"the {kind} has no leader{details}",
            numbers={"peers": list(followers)} if info else {"said": facts.silent},
            help=Suggestion("server report jetstream"),
            trouble=Trouble("no leader", True, "CONSUMER_NO_LEADER")
            if kind == "consumer"
            else Trouble("stream without leader", True, "STREAM_NO_LEADER"),
        )
    for replica in find_lagging_replicas(facts.consumer, facts.consumer.get("ts")):
        is_unseen = replica.state.startswith("not seen")
        state = f"has {replica.state.replace('not', 'not been', 1)}" if is_unseen else f"is {replica.state}"
        yield Cause(
            kind="replica behind",
            weight=SLOW,
            says=f"its replica on {replica.server} {state}",
            numbers={"peers": list(follower_names(facts.consumer["cluster"]))},
            help=Suggestion("server report jetstream"),
            trouble=replica.trouble,
        )


def _diagnose_delivery(facts: Facts, now: Delivery) -> Iterator[Cause]:
    config = facts.consumer.get("config") or {}
    if now.paused:
        yield _diagnose_pause(facts, config)
    if now.at_limit and now.pending:
        yield _diagnose_ack_limit(facts, now)
    yield from _diagnose_clients(facts, config, now)
    yield from _diagnose_given_up(facts, config, now)
    if now.unacked and not (now.at_limit and now.pending):
        yield from _diagnose_missing_acks(facts, config, now)
    if not now.pending and not now.unacked:
        yield from _diagnose_nothing_pending(facts, config)
    if now.pending and config.get("replay_policy") == "original":
        yield Cause(
            kind="original pace",
            weight=SLOW,
            says="it delivers messages at the pace at which they were stored",
            numbers={"replay_policy": "original"},
        )
    if now.pending and (rate := int(config.get("rate_limit_bps") or 0)):
        yield Cause(
            kind="rate limit",
            weight=SLOW,
            says=f"it is limited to {format_count(rate)} bits per second",
            numbers={"rate_limit_bps": rate},
        )


def _diagnose_pause(facts: Facts, config: Json) -> Cause:
    remaining, until = int(facts.consumer.get("pause_remaining", 0)), config.get("pause_until", "")
    return Cause(
        kind="paused",
        weight=STOPPED,
        says=f"it is paused until {format_time(until)}, "
        f"for another {format_duration(truncate_to_seconds(remaining))}",
        numbers={"pause_until": until, "pause_remaining": remaining},
        help=facts.suggest("resume"),
        trouble=Trouble("paused", False, "CONSUMER_PAUSED"),
    )


def _diagnose_ack_limit(facts: Facts, now: Delivery) -> Cause:
    allowed = int(
        (facts.stream.get("config") or {}).get("consumer_limits", {}).get("max_ack_pending", 0) or 0
    )
    more = min(now.limit * 2, allowed) if allowed > 0 else now.limit * 2
    return Cause(
        kind="ack pending at its limit",
        weight=STOPPED,
        says=f"{_count_messages(now.unacked, 'waits', 'wait')} for acknowledgement, and its maximum is"
        f" {format_count(now.limit)}: nothing more is delivered before clients acknowledge",
        numbers={"num_ack_pending": now.unacked, "max_ack_pending": now.limit},
        help=facts.suggest("edit", flags=["--max-pending", str(more)]) if more > now.unacked else None,
        trouble=Trouble(f"{format_count(now.limit)} unacknowledged, delivery stopped", True, "ACKS_FULL"),
    )


def _diagnose_clients(facts: Facts, config: Json, now: Delivery) -> Iterator[Cause]:
    """Yield the causes in the clients: none requests messages, or only one may."""
    info = facts.consumer
    due = now.pending + (now.unacked - now.exhausted if now.overdue else 0)
    pinned = [group for group in info.get("priority_groups") or [] if group.get("pinned_client_id")]
    deliverable = now.deliverable and not now.paused
    # Whoever receives a message to look at it must not be the only one who ever does.
    can_look = config.get("ack_policy") == "explicit" and not now.max_deliver
    if now.is_push and not now.has_client:
        target, group = config["deliver_subject"], config.get("deliver_group")
        in_group = f" in queue group {group}" if group else ""
        queue = build_flag("--queue", group) if group else []
        yield Cause(
            kind="no interest",
            weight=STOPPED if due else FINE,
            says=f"nobody listens on its delivery subject {target}{in_group}; the subscription must name"
            " exactly this subject, without wildcards",
            numbers={"num_pending": now.pending, "deliver_subject": target, "push_bound": False},
            help=Suggestion("sub", [target], queue) if can_look and (deliverable or not due) else None,
            trouble=Trouble(NOBODY[1], True, "NO_SUBSCRIBER") if due else None,
        )
    elif not now.is_push and not now.has_client and due:
        yield _diagnose_missing_pulls(
            facts, config, now, due, can_pull=bool(deliverable) and not pinned and can_look
        )
    for pin in pinned:
        if now.pending and config.get("priority_policy") == "pinned_client":
            client = pin["pinned_client_id"]
            yield Cause(
                kind="pinned",
                weight=SLOW,
                says=f"group {pin.get('group')} is pinned to client {client}: others wait",
                numbers={"pinned_client_id": client, "pinned_ts": pin.get("pinned_ts")},
                help=facts.suggest("unpin", pin.get("group")),
            )


def _diagnose_missing_pulls(facts: Facts, config: Json, now: Delivery, due: int, *, can_pull: bool) -> Cause:
    groups = config.get("priority_groups") or []
    group = build_flag("--group", groups[0]) if groups else []
    since = f"; the last delivery was {format_duration(now.age)} ago" if now.age != NEVER else ""
    # Clients that ask repeatedly, and those that still work on what they have, have no pull open.
    is_busy = now.age != NEVER and (now.age < _RECENT or (now.unacked > 0 and not now.overdue))
    again = due - now.pending
    waiting = [f"{_count_messages(now.pending, 'is', 'are')} pending"] if now.pending else []
    if again:
        subject = format_count(again) if waiting else _count_messages(again, "is", "are")
        waiting.append(f"{subject} to be redelivered")
    return Cause(
        kind="no waiting pulls",
        weight=WAITING if is_busy else STOPPED,
        says=f"{' and '.join(waiting)}, and no client requests them: 0 pulls wait{since}",
        numbers={"num_pending": now.pending, "num_waiting": 0},
        help=facts.suggest("next", flags=[*group, "--no-ack"]) if can_pull else None,
        trouble=None if is_busy else Trouble(NOBODY[0], True, "NOBODY_PULLS"),
    )


def _diagnose_given_up(facts: Facts, config: Json, now: Delivery) -> Iterator[Cause]:
    info = facts.consumer
    delivered, floor = info.get("delivered") or {}, info.get("ack_floor") or {}
    lost = max(0, now.redelivered - now.unacked)
    spent = now.exhausted if now.overdue else 0
    # The server counts messages that were delivered more than once; with a single try none are.
    is_stuck = not now.unacked and int(floor.get("consumer_seq", 0)) < int(delivered.get("consumer_seq", 0))
    if not now.max_deliver or not (lost or spent or is_stuck) or config.get("ack_policy") == "none":
        return
    floor_sequence, last_delivered = int(floor.get("stream_seq", 0)), int(delivered.get("stream_seq", 0))
    count = lost + spent
    if count:
        messages = ("at least " if now.unacked > spent else "") + _count_messages(count, "was", "were")
    else:
        messages = (
            f"some of the messages from sequence {format_count(floor_sequence + 1)}"
            f" to {format_count(last_delivered)} were"
        )
    tries = "1 try" if now.max_deliver == 1 else f"{format_count(now.max_deliver)} tries"
    yield Cause(
        kind="max deliver reached",
        weight=SLOW if now.unacked > spent or now.pending else STOPPED,
        says=f"{messages} given up after {tries} without acknowledgement;"
        f" the acknowledgement floor stays at {format_count(floor_sequence)}",
        numbers={
            "max_deliver": now.max_deliver,
            "num_redelivered": now.redelivered,
            "num_ack_pending": now.unacked,
            "ack_floor": floor_sequence,
            "delivered": last_delivered,
        },
        help=facts.suggest("reset") if config.get("deliver_policy") in RESETTABLE else None,
        trouble=Trouble(
            f"{format_count(count)} given up" if count else "messages given up", True, "GIVEN_UP"
        ),
    )


def _diagnose_missing_acks(facts: Facts, config: Json, now: Delivery) -> Iterator[Cause]:
    """Yield the cause for unacknowledged messages: ordinary at first, trouble when they are redelivered."""
    if now.overdue and now.exhausted == now.unacked:
        return  # given up
    ago = f", the last one {format_duration(now.age)} ago" if now.age != NEVER else ""
    delivered = f"{_count_messages(now.unacked, 'was', 'were')} delivered{ago}"
    numbers: dict[str, Any] = {"num_ack_pending": now.unacked, "num_redelivered": now.redelivered}
    if now.max_deliver:
        numbers["max_deliver"] = now.max_deliver
    again = min(now.redelivered, now.unacked)
    says, sooner = _describe_next_delivery(facts, config, now, delivered, numbers)
    is_trouble = bool(again) or now.overdue
    if now.pending and not is_trouble:
        return
    yield Cause(
        kind="in backoff" if config.get("backoff") else "waiting for acknowledgements",
        weight=SLOW if is_trouble else FINE,
        says=says if not again else f"{says}; {format_count(again)} were delivered more than once",
        numbers=numbers,
        help=sooner,
        trouble=Trouble(f"{format_count(again)} redelivered", False, "REDELIVERED") if again else None,
    )


def _describe_next_delivery(
    facts: Facts, config: Json, now: Delivery, delivered: str, numbers: dict[str, Any]
) -> tuple[str, Suggestion | None]:
    """Return a sentence on when unacknowledged messages are redelivered, and a command line to have them
    sooner.
    """
    backoff = [int(wait) for wait in config.get("backoff") or []]
    if backoff:
        numbers["backoff"] = backoff
    else:
        numbers["ack_wait"] = now.wait
    if now.exhausted == now.unacked:
        wait = format_exact_duration(now.wait)
        return f"{delivered}, for the last time: given up without an acknowledgement within {wait}", None
    # It is unknown whether a message that was delivered several times has tries left.
    may_come = not now.max_deliver or not now.redelivered
    limit = f", {format_count(now.max_deliver)} tries in all" if now.max_deliver else ""
    if backoff:
        steps = ", ".join(map(format_exact_duration, backoff))
        sooner = facts.suggest("edit", flags=["--backoff", "1s"]) if now.wait > SECOND else None
        says = f"{delivered}, to be redelivered only after the backoff: {steps}{limit}"
    else:
        sooner = facts.suggest("edit", flags=["--wait", "5s"]) if now.wait > 5 * SECOND else None
        wait = format_exact_duration(now.wait)
        says = f"{delivered}, to be redelivered after {wait} without an acknowledgement{limit}"
    return says, sooner if may_come and not now.overdue else None


def _diagnose_nothing_pending(facts: Facts, config: Json) -> Iterator[Cause]:
    """Yield why nothing is left to deliver: no message matches, or delivery starts later."""
    if not facts.stream:
        return
    stored_config, state = facts.stream["config"], facts.stream["state"]
    subjects, messages = get_filters(config), int(state.get("messages", 0))
    numbers: dict[str, Any] = {"num_pending": 0, "messages": messages}
    stream_subjects = stored_config.get("subjects") or []
    subjects_line = Suggestion("stream subjects", [facts.stream_name])
    # Copies and transformed messages may have subjects that the configuration does not show.
    has_others = any(stored_config.get(key) for key in ("mirror", "sources", "subject_transform"))
    impossible_filters = [
        subject
        for subject in subjects
        if stream_subjects
        and not has_others
        and not any(overlaps(stream_subject, subject) for stream_subject in stream_subjects)
    ]
    if impossible_filters and len(impossible_filters) == len(subjects) and not facts.matching:
        yield Cause(
            kind="filter matches nothing",
            weight=STOPPED,
            says=f"no message of the stream ({format_count(messages)}) matches its filter"
            f" ({', '.join(subjects)}), and none ever can: the stream takes {', '.join(stream_subjects)}",
            numbers={**numbers, "matching": 0, "filters": subjects},
            help=_suggest_filter(facts, stream_subjects),
            trouble=Trouble("filter can never match", True, "FILTER_EMPTY"),
        )
    elif not messages:
        yield Cause("empty stream", FINE, f"stream {facts.stream_name} holds no messages", numbers)
    elif subjects and facts.matching == 0:
        yield Cause(
            kind="filter matches nothing",
            weight=FINE,
            says=f"no message of the stream ({format_count(messages)}) matches its filter"
            f" ({', '.join(subjects)})",
            numbers={**numbers, "matching": 0, "filters": subjects},
            help=subjects_line,
        )
    start, last = int(config.get("opt_start_seq") or 0), int(state.get("last_seq", 0))
    if start > last:
        yield Cause(
            kind="starts later",
            weight=STOPPED,
            says=f"it starts at sequence {format_count(start)}, and the stream is at {format_count(last)}",
            numbers={**numbers, "opt_start_seq": start, "last_seq": last},
            trouble=Trouble(f"starts at {format_count(start)}", False, "STARTS_LATER"),
        )


def _suggest_filter(facts: Facts, subjects: Sequence[str]) -> Suggestion | None:
    """Return the line that gives a consumer the stream's subject as its filter; None for several."""
    return facts.suggest("edit", flags=build_flag("--filter", subjects[0])) if len(subjects) == 1 else None


def _describe_healthy(facts: Facts) -> Cause:
    info = facts.consumer
    pending = int(info.get("num_pending", 0))
    numbers = {
        "num_pending": pending,
        "delivered": int((info.get("delivered") or {}).get("stream_seq", 0)),
        "last_seq": int((facts.stream.get("state") or {}).get("last_seq", 0)),
    }
    if pending:
        return Cause(
            "moving",
            FINE,
            f"nothing holds it up: {_count_messages(pending, 'is', 'are')} on the way",
            numbers,
        )
    return Cause("done", FINE, "it has delivered everything there is", numbers)


def _count_messages(number: int, singular: str, plural: str) -> str:
    """Return `1 message waits`, `3 messages wait`."""
    return f"1 message {singular}" if number == 1 else f"{format_count(number)} messages {plural}"
