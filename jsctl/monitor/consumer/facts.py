"""What is known of a consumer, and the causes of its state. No I/O."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from jsctl.base.command_lines import Suggestion
from jsctl.base.units import NEVER, compute_age
from jsctl.jetstream.api import Json
from jsctl.monitor.trouble import Trouble

STOPPED, SLOW, PARTIAL, WAITING, FINE = "stopped", "slow", "partial", "waiting", "fine"
NOBODY = ("nobody pulls", "no subscriber")  #: the words of a trouble: pull, push


class Cause(NamedTuple):
    """One reason for a consumer's state.

    kind: a word for programs. weight: STOPPED when nothing is delivered, SLOW when less is delivered than
    could be, PARTIAL when some messages are never delivered, WAITING when its clients are between two pulls,
    FINE for no fault. says: a sentence. numbers:
    the evidence. help: command lines that would help. trouble: a short form for a report; None for what
    is intended or ordinary.
    """

    kind: str
    weight: str
    says: str
    numbers: dict[str, Any]
    help: Sequence[Suggestion] = ()
    trouble: Trouble | None = None


class Facts(NamedTuple):
    """What is known about a consumer.

    consumer, stream: their infos, empty when they could not be fetched; what `select_stream_facts` keeps of
    the stream's info is enough. silent: why they could not be fetched. matching: messages in the stream that
    the filters match, None when that is unknown. may_ack: whether the login may acknowledge its messages.
    queue: what only its consumers show of the stream.
    """

    stream_name: str
    name: str
    consumer: Json
    stream: Json
    matching: int | None = None
    silent: str = ""
    may_ack: bool = True
    queue: Sequence[Trouble] = ()

    @property
    def evidence(self) -> Json:
        """What `gather_evidence` found: `blocked_at`, sequence and subject of the first unacknowledged
        message; `left`, the number of those that it left behind in a work queue, or gave up, and sequence
        and subject of the first one."""
        found: Json = (self.stream.get("consumers") or {}).get(self.name) or {}
        return found

    def suggest(self, verb: str, *names: object, flags: Sequence[str] = (), purpose: str = "") -> Suggestion:
        """Return a command line about the consumer. verb: of `jsctl consumer`. names: further arguments."""
        arguments = (self.stream_name, self.name, *map(str, names))
        return Suggestion(f"consumer {verb}", arguments, flags, purpose)


class Delivery(NamedTuple):
    """The numbers of a consumer.

    age: ns since its last delivery, NEVER for none. wait: ns until an unacknowledged message is redelivered.
    max_deliver: maximum deliveries of a message, 0 for no limit. given_up: messages that had their last
    delivery and wait no more, as far as it is known.
    """

    pending: int
    unacked: int
    redelivered: int
    age: int
    wait: int
    max_deliver: int
    limit: int
    is_push: bool
    has_client: bool
    paused: bool
    given_up: int

    @property
    def at_limit(self) -> bool:
        """Whether no new message is delivered before one is acknowledged."""
        return 0 < self.limit <= self.unacked

    @property
    def overdue(self) -> bool:
        """Whether the last delivered messages should have been redelivered by now."""
        return bool(self.unacked) and self.age != NEVER and self.age > self.wait

    @property
    def exhausted(self) -> int:
        """Unacknowledged messages that are known to have had their last delivery."""
        if self.max_deliver == 1:
            return self.unacked
        # Servers count what was given up among those that were redelivered.
        waiting = max(0, self.redelivered - self.given_up)
        return min(waiting, self.unacked) if self.max_deliver == 2 else 0

    @property
    def deliverable(self) -> int:
        """Messages that could be delivered now."""
        return (0 if self.at_limit else self.pending) + (self.unacked - self.exhausted if self.overdue else 0)


def select_stream_facts(info: Json, evidence: Mapping[str, Json] | None = None) -> Json:
    """Return the part of a stream's info that a diagnosis of its consumers needs. evidence: on its
    consumers."""
    keys = (
        "subjects",
        "mirror",
        "sources",
        "subject_transform",
        "consumer_limits",
        "retention",
        "num_replicas",
        "max_msgs_per_subject",
        "sealed",
        "no_ack",
    )
    return {
        "config": {key: info["config"][key] for key in keys if info["config"].get(key)},
        "state": {key: info["state"].get(key, 0) for key in ("messages", "first_seq", "last_seq")},
        **({"consumers": evidence} if evidence else {}),
    }


def read_delivery(facts: Facts) -> Delivery:
    """Return the numbers of a consumer."""
    info, left = facts.consumer, facts.evidence.get("left") or (0,)
    config = info.get("config") or {}
    waits = [int(wait) for wait in config.get("backoff") or []] or [int(config.get("ack_wait", 0))]
    is_push = bool(config.get("deliver_subject"))
    return Delivery(
        pending=int(info.get("num_pending", 0)),
        unacked=int(info.get("num_ack_pending", 0)),
        redelivered=int(info.get("num_redelivered", 0)),
        age=compute_age((info.get("delivered") or {}).get("last_active"), info.get("ts")),
        wait=max(waits),
        max_deliver=max(0, int(config.get("max_deliver", 0))),
        limit=int(config.get("max_ack_pending", 0)),
        is_push=is_push,
        has_client=bool(info.get("push_bound") if is_push else info.get("num_waiting")),
        paused=bool(info.get("paused")),
        given_up=int(left[0]),
    )
