"""Why a consumer waits for its clients: none requests messages, or only one may. No I/O."""

from collections.abc import Iterator

from jsctl.base.command_lines import Suggestion, build_flag
from jsctl.base.units import NEVER, SECOND, format_count, format_duration
from jsctl.jetstream.api import Json
from jsctl.monitor.consumer.facts import FINE, NOBODY, SLOW, STOPPED, WAITING, Cause, Delivery, Facts
from jsctl.monitor.consumer.unacknowledged import count_messages
from jsctl.monitor.rules.catalog import Rule
from jsctl.monitor.trouble import Trouble

_RECENT = 10 * SECOND
"""ns since a delivery: a client that pulls repeatedly does not have a pull open all the time."""


def diagnose_clients(facts: Facts, config: Json, now: Delivery) -> Iterator[Cause]:
    """Yield the causes in the clients: none requests messages, or only one may."""
    info = facts.consumer
    due = now.pending + (now.unacked - now.exhausted if now.overdue else 0)
    pinned = [group for group in info.get("priority_groups") or [] if group.get("pinned_client_id")]
    deliverable = now.deliverable and not now.paused
    # Whoever receives a message to look at it must not be the only one who ever does.
    can_inspect = config.get("ack_policy") == "explicit" and not now.max_deliver
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
            help=[Suggestion("sub", [target], queue)] if can_inspect and (deliverable or not due) else (),
            trouble=Trouble(NOBODY[1], True, "NO_SUBSCRIBER") if due else None,
        )
    elif not now.is_push and not now.has_client and due:
        yield _diagnose_missing_pulls(
            facts, config, now, due, can_pull=bool(deliverable) and not pinned and can_inspect
        )
    for pin in pinned:
        if now.pending and config.get("priority_policy") == "pinned_client":
            yield _diagnose_pin(facts, now, pin, is_idle=bool(deliverable) and now.has_client)


def _diagnose_pin(facts: Facts, now: Delivery, pin: Json, *, is_idle: bool) -> Cause:
    """Return the cause that only one client gets messages. is_idle: whether others wait while there are
    some."""
    group, client = pin.get("group"), pin["pinned_client_id"]
    is_gone = is_idle and (now.age == NEVER or now.age >= _RECENT)
    says = ": others wait"
    if is_gone:
        says = (
            f", which has asked for nothing for {format_duration(now.age)}: it may be gone, and others wait"
            " until its pin times out"
        )
    return Cause(
        kind="pinned",
        weight=STOPPED if is_gone else SLOW,
        says=f"group {group} is pinned to client {client}{says}",
        numbers={"pinned_client_id": client, "pinned_ts": pin.get("pinned_ts")},
        help=[facts.suggest("unpin", group)],
        trouble=Trouble("its pinned client asks for nothing", True, "PIN_IDLE") if is_gone else None,
    )


def _diagnose_missing_pulls(facts: Facts, config: Json, now: Delivery, due: int, *, can_pull: bool) -> Cause:
    groups = config.get("priority_groups") or []
    group = build_flag("--group", groups[0]) if groups else []
    since = f"; the last delivery was {format_duration(now.age)} ago" if now.age != NEVER else ""
    # Clients that ask repeatedly, and those that still work on what they have, have no pull open.
    is_busy = now.age != NEVER and (now.age < _RECENT or (now.unacked > 0 and not now.overdue))
    again, them = due - now.pending, "it" if due == 1 else "them"
    waiting = [f"{count_messages(now.pending, 'is', 'are')} pending"] if now.pending else []
    if again:
        subject = format_count(again) if waiting else count_messages(again, "is", "are")
        waiting.append(f"{subject} to be redelivered")
    return Cause(
        kind="no waiting pulls",
        weight=WAITING if is_busy else STOPPED,
        says=f"{' and '.join(waiting)}, and no client requests {them}: 0 pulls wait{since}",
        numbers={"num_pending": now.pending, "num_waiting": 0},
        help=[facts.suggest("next", flags=[*group, "--no-ack"])] if can_pull else (),
        trouble=None if is_busy else Trouble(NOBODY[0], True, "NOBODY_PULLS"),
    )


RULES = (
    Rule(
        "NO_SUBSCRIBER",
        "nobody listens to a push consumer",
        "consumers",
        ("CONSUMER_ORPHANED",),
        why="its messages wait until a client subscribes",
        fix="start the client that subscribes to it",
    ),
    Rule(
        "NOBODY_PULLS",
        "messages wait, and no client pulls them",
        "consumers",
        ("CONSUMER_ORPHANED",),
        why="they wait until a client asks for them",
        fix="start the client that pulls from it",
    ),
    Rule(
        "PIN_IDLE",
        "the client to which a consumer is pinned asks for nothing",
        "consumers",
        why="no other client gets messages until its pin times out",
        fix="if the client is gone, let another one take over",
    ),
)
