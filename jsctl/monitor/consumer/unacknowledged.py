"""The causes of a consumer's state that lie in what is not acknowledged. No I/O.

What the numbers mean: nats-server consumer.go (hasMaxDeliveries: a message given up leaves `num_ack_pending`
and stays in `num_redelivered`; a message that is delivered once is in neither).
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from jsctl.base.command_lines import Suggestion
from jsctl.base.units import NEVER, SECOND, format_count, format_duration, format_exact_duration
from jsctl.jetstream.api import Json
from jsctl.jetstream.consumer.requests import RESETTABLE
from jsctl.monitor.consumer.facts import FINE, SLOW, STOPPED, Cause, Delivery, Facts
from jsctl.monitor.rules.catalog import Rule
from jsctl.monitor.trouble import Trouble


def diagnose_ack_limit(facts: Facts, now: Delivery) -> Cause:
    """Return the cause that it waits for acknowledgements before it delivers more."""
    allowed = int(
        (facts.stream.get("config") or {}).get("consumer_limits", {}).get("max_ack_pending", 0) or 0
    )
    more = min(now.limit * 2, allowed) if allowed > 0 else now.limit * 2
    says = (
        f"{count_messages(now.unacked, 'waits', 'wait')} for acknowledgement, and its maximum is"
        f" {format_count(now.limit)}: nothing more is delivered before clients acknowledge"
    )
    numbers: dict[str, Any] = {"num_ack_pending": now.unacked, "max_ack_pending": now.limit}
    help = [facts.suggest("edit", flags=["--max-pending", str(more)], purpose="raise the maximum")]
    if more <= now.unacked:
        help = []
    if blocked_at := facts.evidence.get("blocked_at"):
        sequence, subject = int(blocked_at[0]), str(blocked_at[1])
        says += f"; the first is message {format_count(sequence)} ({subject}), {_describe_tries(facts, now)}"
        numbers |= {"first": sequence, "subject": subject}
        look = Suggestion("stream get", [facts.stream_name, str(sequence)], purpose="look at the first")
        help.append(look)
        if (facts.consumer.get("config") or {}).get("deliver_policy") in RESETTABLE:
            flags = ["--sequence", str(sequence + 1)]
            help.append(facts.suggest("reset", flags=flags, purpose="go on after it"))
    return Cause(
        kind="ack pending at its limit",
        weight=STOPPED,
        says=says,
        numbers=numbers,
        help=help,
        trouble=Trouble(f"{format_count(now.limit)} unacknowledged, delivery stopped", True, "ACKS_FULL"),
    )


def _describe_tries(facts: Facts, now: Delivery) -> str:
    """Return how often the first unacknowledged message was delivered: the server counts all deliveries."""
    floor, delivered = (facts.consumer.get(key) or {} for key in ("ack_floor", "delivered"))
    deliveries = int(delivered.get("consumer_seq", 0)) - int(floor.get("consumer_seq", 0))
    most = deliveries - now.unacked + 1
    if not now.redelivered or most < 2:
        return "delivered once"
    return f"delivered {'' if now.unacked == 1 else 'up to '}{format_count(most)} times"


class _GivenUp(NamedTuple):
    """Messages that had their last delivery, or were left behind in a work queue. first: sequence, 0 if it is
    not known. floor, delivered: sequences of the last message acknowledged with all before it, and of the
    last one that was delivered. is_exact: whether no message that waits is counted."""

    number: int
    first: int
    subject: str
    floor: int
    delivered: int
    is_exact: bool

    @property
    def is_floor_behind(self) -> bool:
        """Whether the acknowledgement floor stays where it is."""
        return self.floor < self.delivered

    def describe(self, max_deliver: int) -> str:
        """Return a sentence about them. max_deliver: 0 for a work queue that left them behind."""
        name = f"message {format_count(self.first)}" + (f" ({self.subject})" if self.subject else "")
        if self.number == 1 and self.first:
            messages = f"{name} was"
        elif self.number:
            messages = "" if self.is_exact else "at least "
            messages += count_messages(self.number, "was", "were")
        else:
            start, end = format_count(self.floor + 1), format_count(self.delivered)
            messages = f"some of the messages from sequence {start} to {end} were"
        tries = "1 try" if max_deliver == 1 else f"{format_count(max_deliver)} tries"
        says = f"{messages} given up after {tries} without acknowledgement"
        if not max_deliver:
            says = f"{messages} left behind"
        if self.number != 1 and self.first:
            says += f"; the first is {name}"
        if self.is_floor_behind:
            says += f"; the acknowledgement floor stays at {format_count(self.floor)}"
        return says


def _find_given_up(facts: Facts, config: Json, now: Delivery) -> _GivenUp | None:
    info = facts.consumer
    delivered, floor = info.get("delivered") or {}, info.get("ack_floor") or {}
    left, first, subject = facts.evidence.get("left") or (None, 0, "")
    # Servers count messages that were delivered more than once; with a single try none are.
    lost = max(0, now.redelivered - now.unacked) if left is None else int(left)
    spent = now.exhausted if now.overdue else 0
    is_stuck = not now.unacked and int(floor.get("consumer_seq", 0)) < int(delivered.get("consumer_seq", 0))
    if config.get("ack_policy") == "none" or not (left or (now.max_deliver and (lost or spent or is_stuck))):
        return None
    floor_sequence, last_delivered = int(floor.get("stream_seq", 0)), int(delivered.get("stream_seq", 0))
    count = lost + spent
    if not first and count < 2 and floor_sequence + 1 == last_delivered:
        first, count = last_delivered, 1
    return _GivenUp(count, first, subject, floor_sequence, last_delivered, now.unacked <= spent)


def diagnose_given_up(facts: Facts, config: Json, now: Delivery) -> Iterator[Cause]:
    """Yield whether messages had their last delivery, or were left behind in a work queue."""
    lost = _find_given_up(facts, config, now)
    if lost is None:
        return
    help = [facts.suggest("dead", purpose="list them")]
    others = ""
    if _can_redrive(facts):
        flags = ["--dead", "--to-consumer"]
        names = [facts.stream_name, facts.name]
        help.append(Suggestion("redrive", names, flags, purpose="publish them again"))
        others = " with what was acknowledged after them"
    if config.get("deliver_policy") in RESETTABLE and (lost.first or lost.is_floor_behind):
        flags = ["--sequence", str(lost.first)] if lost.first else []
        help.append(facts.suggest("reset", flags=flags, purpose=f"deliver them again{others}"))
    words = f"{format_count(lost.number)} given up" if lost.number else "messages given up"
    yield Cause(
        kind="max deliver reached",
        weight=STOPPED if lost.is_exact and not now.pending else SLOW,
        says=lost.describe(now.max_deliver),
        numbers={
            "max_deliver": now.max_deliver,
            "num_redelivered": now.redelivered,
            "num_ack_pending": now.unacked,
            "ack_floor": lost.floor,
            "delivered": lost.delivered,
            **({"first": lost.first} if lost.first else {}),
        },
        help=help,
        trouble=Trouble(words, True, "GIVEN_UP"),
    )


def _can_redrive(facts: Facts) -> bool:
    """Return whether `redrive --dead --to-consumer` delivers just what was given up. In a cluster nobody
    tells which messages that is; of a work queue, a reset delivers nothing else either."""
    config = facts.stream.get("config") or {}
    takes_messages = config.get("subjects") and not any(
        config.get(key) for key in ("mirror", "sources", "subject_transform", "sealed", "no_ack")
    )
    is_queue = config.get("retention") == "workqueue"
    return bool(takes_messages) and not is_queue and "cluster" not in facts.consumer


def diagnose_missing_acks(facts: Facts, config: Json, now: Delivery) -> Iterator[Cause]:
    """Yield the cause for unacknowledged messages: ordinary at first, trouble when they are redelivered."""
    if now.overdue and now.exhausted == now.unacked:
        return  # given up
    ago = f", the last one {format_duration(now.age)} ago" if now.age != NEVER else ""
    delivered = f"{count_messages(now.unacked, 'was', 'were')} delivered{ago}"
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
        says=says if not again else f"{says}; {format_count(again)} of them more than once",
        numbers=numbers,
        help=[sooner] if sooner else (),
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


def count_messages(number: int, singular: str, plural: str) -> str:
    """Return `1 message waits`, `3 messages wait`."""
    return f"1 message {singular}" if number == 1 else f"{format_count(number)} messages {plural}"


RULES = (
    Rule(
        "ACKS_FULL",
        "a consumer stopped at its maximum of unacknowledged messages",
        "consumers",
        why="nothing more is delivered to any of its clients until some are acknowledged",
        fix="let its clients acknowledge what they have",
    ),
    Rule(
        "GIVEN_UP",
        "a consumer gave messages up after its maximum of deliveries",
        "consumers",
        why="no client has processed them, and they are not delivered again",
        fix="when clients can process them, have them delivered again",
    ),
    Rule(
        "REDELIVERED",
        "messages are delivered again because they are not acknowledged",
        "consumers",
        why="clients fail, or take longer than the consumer waits: the same work is done again",
        fix="let clients acknowledge within the time that the consumer waits, or let it wait longer",
    ),
)
