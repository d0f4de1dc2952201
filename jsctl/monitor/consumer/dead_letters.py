"""What a consumer gave up: messages after their last delivery, and messages that a client terminated.

Three sources, each exact where it exists: the state that a server stores of a consumer; what is left behind
the consumer of a stream that removes what was processed; and the advisories MAX_DELIVERIES and
MSG_TERMINATED, where a stream has them.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import NamedTuple

from jsctl.base.command_lines import build_line
from jsctl.base.units import parse_time_ns, pluralize, to_ns
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.backup.consumer_state import ConsumerState, fetch_consumer_state
from jsctl.jetstream.config.kind import is_copying
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.consumer.config import get_filters
from jsctl.jetstream.message import browse
from jsctl.jetstream.stream import requests as streams
from jsctl.monitor import events
from jsctl.nats.subjects import matches

MAX_DELIVER, TERMINATED, LEFT_BEHIND = "max_deliver", "terminated", "left_behind"
REMOVED = "removed"
"""Reasons: its last delivery was not acknowledged; a client terminated it; a stream that
removes what was processed still has it although its consumer is past it, and nothing says why; it was
removed from the stream while it waited for its acknowledgement."""

UNSETTLED = "which is known once the last deliveries that are under way have ended"
_REMOVED_DETAIL = "Unacknowledged message was deleted"  # nats-server: ackTermUnackedLimitsReason


class Dead(NamedTuple):
    """That a message was given up. deliveries: 0 if it is unknown. detail: why a client terminated it.
    given_up: when, RFC 3339; empty if it is unknown."""

    reason: str
    deliveries: int = 0
    detail: str = ""
    given_up: str = ""


class DeadLetter(NamedTuple):
    """A message that was given up. subject, time: empty if the stream does not hold it any more."""

    sequence: int
    dead: Dead
    subject: str = ""
    time: str = ""
    bytes: int = 0

    @property
    def is_stored(self) -> bool:
        """Whether the stream still holds the message."""
        return bool(self.subject)


class DeadLetters(NamedTuple):
    """The dead letters of a consumer, by sequence. doubts: sentences on what there may be beside these.
    captures: the streams that store the consumer's advisories. acknowledges: whether clients answer the
    consumer, so that they can terminate messages."""

    letters: Sequence[DeadLetter]
    doubts: Sequence[str] = ()
    captures: Sequence[str] = ()
    acknowledges: bool = True

    @property
    def misses_terminated(self) -> bool:
        """Whether terminated messages cannot be among these, as no advisories are stored."""
        return self.acknowledges and not self.captures

    def explain_missing(self, stream: str, consumer: str) -> str:
        """Return a sentence on what cannot be among these without stored advisories; empty for nothing."""
        line = build_capture_line(stream, consumer)
        unseen = f"what clients terminated is not known; {line} stores it from now on"
        return unseen if self.misses_terminated else ""


def build_capture_line(stream: str, consumer: str) -> str:
    """Return the command line that has the advisories of a consumer stored from now on."""
    return build_line("consumer dead", stream, consumer, flags=["--capture"])


def list_capture_subjects(prefix: str, stream: str, consumer: str) -> list[str]:
    """Return the subjects of the advisories on what consumers give up. prefix: replaces `$JS.EVENT`."""
    base = f"{prefix or '$JS.EVENT'}.ADVISORY.CONSUMER"
    return [f"{base}.{kind}.{stream}.{consumer}" for kind in ("MAX_DELIVERIES", "MSG_TERMINATED")]


async def fetch_dead_letters(api: Api, stream: str, consumer: str) -> DeadLetters:
    """Find what a consumer gave up. Raises MissingName."""
    info = await consumers.fetch_info(api, stream, consumer)
    if info["config"].get("ack_policy") == "none":
        return DeadLetters([], acknowledges=False)
    of_stream = await streams.fetch_info(api, stream)
    keeps_processed, is_drained = await _classify_retention(api, of_stream, info)
    advised, captures = await _read_advisories(api, info)
    # In a cluster, a snapshot holds only counts (nats-server: consumerStateFromInfo).
    state = (
        "servers of a cluster tell only how many messages wait, not which"
        if "cluster" in info
        else await fetch_consumer_state(api, info)
    )
    doubts, answered = list[str](), set[int]()
    if isinstance(state, ConsumerState):
        found, answered = _combine(state, advised)
        left = await list_stored(api, info, state.delivered) if is_drained else []
        left = [sequence for sequence in left if sequence not in state.pending]
        answered.difference_update(left)
        if state.unsettled:
            more = pluralize(state.unsettled, "more message")
            doubts = [f"{more} may have been given up: {UNSETTLED}"]
    else:
        found, (left, unknown) = advised, await _find_passed(api, info) if is_drained else ([], 0)
        count = int(info.get("num_redelivered", 0)) - int(info.get("num_ack_pending", 0)) - len(found)
        if missing := unknown if is_drained else max(0, count):
            doubts = [f"{pluralize(missing, 'more message')} may have been given up: {state}"]
        elif not (is_drained or captures):
            doubts = [f"{'others' if found else 'messages'} may have been given up: {state}"]
    found |= {sequence: Dead(LEFT_BEHIND) for sequence in left if sequence not in found}
    letters = [letter async for letter in _fetch_letters(api, stream, found)]
    # What was acknowledged since is not dead: the stream holds it, or removed it for that.
    return DeadLetters(
        [
            one
            for one in letters
            if (one.sequence not in answered if one.is_stored else keeps_processed)
            or one.dead.reason in (TERMINATED, REMOVED)
        ],
        doubts,
        captures,
    )


async def _classify_retention(api: Api, stream: Json, consumer: Json) -> tuple[bool, bool]:
    """Return whether a stream keeps what was processed, and whether what it holds behind a consumer was not:
    that of a work queue from which no other stream copies, and of an interest stream that has this consumer
    alone. Both are infos."""
    retention, count = stream["config"].get("retention"), int(stream["state"].get("consumer_count", 0))
    is_alone = count == 1 and consumer["config"].get("deliver_policy", "all") == "all"
    if retention == "workqueue" and count > 1:
        listed = await consumers.list_consumers(api, str(stream["config"]["name"]))
        return False, not any(is_copying(info["config"]) for info in listed.infos)
    return retention in (None, "limits"), retention == "workqueue" or (retention == "interest" and is_alone)


def _combine(state: ConsumerState, advised: Mapping[int, Dead]) -> tuple[dict[int, Dead], set[int]]:
    """Return what the server's state says, with what advisories add (when, and what was terminated), and the
    sequences of those that the server does not count any more: they were acknowledged since, or removed. An
    advisory on a message that is delivered again is out of date."""
    found = {sequence: dead for sequence, dead in advised.items() if sequence not in state.pending}
    answered = {sequence for sequence, dead in found.items() if dead.reason == MAX_DELIVER}
    answered -= state.redelivered.keys()
    for sequence, deliveries in state.redelivered.items():
        if sequence not in state.pending and found.get(sequence, Dead("")).reason != MAX_DELIVER:
            found[sequence] = Dead(MAX_DELIVER, deliveries)
    return found, answered


async def _read_advisories(api: Api, info: Json) -> tuple[dict[int, Dead], list[str]]:
    """Return what advisories say that streams captured since the consumer was created, and these streams."""
    stream, consumer = str(info["stream_name"]), str(info["name"])
    delivered = int((info.get("delivered") or {}).get("stream_seq", 0))
    created = parse_time_ns(str(info["created"]))
    dead: dict[int, Dead] = {}
    captures: dict[str, None] = {}
    for subject in list_capture_subjects(api.connection.settings.js_event_prefix, stream, consumer):
        for capture in await streams.list_names(api, subject):
            captures[capture] = None
            is_direct = bool((await streams.fetch_info(api, capture))["config"].get("allow_direct"))
            async for message in browse.read(api, capture, subject=subject, bulk=is_direct):
                event = events.parse(message.data) or {}
                sequence, is_ours = int(event.get("stream_seq") or 0), event.get("stream") == stream
                if (
                    not is_ours
                    or event.get("consumer") != consumer
                    or events.domain_differs(event, api.domain)
                ):
                    continue
                if 0 < sequence <= delivered and to_ns(message.timestamp) >= created:
                    detail, deliveries = str(event.get("reason") or ""), int(event.get("deliveries") or 0)
                    ended = REMOVED if detail == _REMOVED_DETAIL else TERMINATED
                    reason = ended if "MSG_TERMINATED" in subject else MAX_DELIVER
                    dead[sequence] = Dead(reason, deliveries, detail, str(event.get("timestamp") or ""))
    return dead, list(captures)


async def list_stored(api: Api, info: Json, last: int, first: int = 1) -> list[int]:
    """Return the messages between two sequences that match a consumer's filters; none if it began later."""
    filters, stored = get_filters(info["config"]), list[int]()
    if last < first or info["config"].get("deliver_policy", "all") != "all":
        return []
    stream = str(info["stream_name"])
    is_direct = bool((await streams.fetch_info(api, stream))["config"].get("allow_direct"))
    async for message in browse.read(api, stream, start=first, last=last, bulk=is_direct):
        if not filters or any(matches(each, message.subject) for each in filters):
            stored.append(message.sequence)
    return stored


async def _find_passed(api: Api, info: Json) -> tuple[list[int], int]:
    """Return what is left behind the consumer of a stream that removes what was processed, as far as counts
    tell which messages that is, and how many others there are."""
    floor, delivered = (int((info.get(key) or {}).get("stream_seq", 0)) for key in ("ack_floor", "delivered"))
    passed = await list_stored(api, info, floor)
    between = await list_stored(api, info, delivered, floor + 1)
    unacked = int(info.get("num_ack_pending", 0))
    return (passed, max(0, len(between) - unacked)) if unacked else (passed + between, 0)


async def _fetch_letters(
    api: Api, stream: str, found: Mapping[int, Dead]
) -> AsyncGenerator[DeadLetter, None]:
    async for sequence, message in browse.fetch_each(api, stream, sorted(found)):
        letter = DeadLetter(sequence, found[sequence])
        yield (
            letter
            if message is None
            else letter._replace(subject=message.subject, time=message.timestamp, bytes=message.size)
        )
