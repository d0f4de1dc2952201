"""Messages that a consumer waits for: which ones, how often delivered, until when, and to whom.

The state that a server stores has the time at which a message was stored, in place of its delivery
(nats-server: consumer.go, deliverMsg, which passes pmsg.ts to updateDelivered), until a client delays the
message: by +WPI, or by a negative acknowledgement with a delay. Only then is it known when it is due.
"""

from collections.abc import Sequence
from typing import NamedTuple

from jsctl.base.units import format_count, pluralize, to_ns
from jsctl.jetstream.api import Api, Json
from jsctl.jetstream.backup.consumer_state import ConsumerState, fetch_consumer_state
from jsctl.jetstream.consumer import requests as consumers
from jsctl.jetstream.message import browse
from jsctl.monitor.consumer.dead_letters import UNSETTLED, list_stored


class PendingMessage(NamedTuple):
    """A message without an acknowledgement. time: when it was stored, RFC 3339; empty, as its subject, if the
    stream does not hold it. due: when it is delivered again, in ns since the epoch, 0 if it is unknown.
    deliveries: 0 if it is unknown. client: to whom; empty if it is unknown."""

    sequence: int
    subject: str
    time: str
    due: int = 0
    deliveries: int = 0
    client: str = ""


class PendingMessages(NamedTuple):
    """The messages by sequence. doubt: why they are not, or not exactly, known, as a sentence; empty if they
    are."""

    messages: Sequence[PendingMessage]
    doubt: str = ""


async def fetch_pending(api: Api, stream: str, consumer: str) -> PendingMessages:
    """Find what a consumer waits for. Raises MissingName."""
    info = await consumers.fetch_info(api, stream, consumer)
    unacked = int(info.get("num_ack_pending", 0))
    client = _describe_client(info)
    if "cluster" in info:  # whose snapshots hold only counts
        floor, delivered = (
            int((info.get(key) or {}).get("stream_seq", 0)) for key in ("ack_floor", "delivered")
        )
        found = await list_stored(api, info, delivered, floor + 1) if unacked else []
        if len(found) != unacked:
            between = f"of {len(found):,} from {format_count(floor + 1)} to {format_count(delivered)}"
            doubt = "servers of a cluster tell only how many wait, not which"
            return PendingMessages([], f"{pluralize(unacked, 'message')} {between} may wait: {doubt}")
        state = ConsumerState(delivered, floor, {}, {})
        sequences = found
    else:
        fetched = await fetch_consumer_state(api, info)
        if isinstance(fetched, str):
            doubt = f"{pluralize(unacked, 'message')} may wait; which ones is not known: {fetched}"
            return PendingMessages([], doubt if unacked else "")
        state, sequences = fetched, sorted(fetched.pending)
    messages = []
    async for sequence, message in browse.fetch_each(api, stream, sequences):
        subject, time = (message.subject, message.timestamp) if message else ("", "")
        pending = state.pending.get(sequence)
        one = PendingMessage(sequence, subject, time, client=client)
        if pending is not None:
            deliveries = state.redelivered.get(sequence, 0) + 1
            is_delayed = message is not None and pending.time != to_ns(message.timestamp)
            due = pending.time + _get_wait(info["config"], deliveries) if is_delayed else 0
            one = one._replace(due=due, deliveries=deliveries)
        messages.append(one)
    if state.unsettled:
        given_up = f"{pluralize(state.unsettled, 'message')} of these may have been given up"
        return PendingMessages(messages, f"{given_up}: {UNSETTLED}")
    return PendingMessages(messages)


def _get_wait(config: Json, deliveries: int) -> int:
    """Return how long the server waits for an acknowledgement after this many deliveries, in ns
    (nats-server: consumer.go, checkPending)."""
    backoff = config.get("backoff") or []
    if backoff:
        return int(backoff[min(deliveries, len(backoff)) - 1])
    return int(config.get("ack_wait") or 0)


def _describe_client(info: Json) -> str:
    """Return who gets what a consumer delivers, as far as its info tells."""
    config = info["config"]
    if subject := config.get("deliver_subject"):
        group = config.get("deliver_group")
        return f"{subject} (queue group {group})" if group else str(subject)
    pins = [group for group in info.get("priority_groups") or [] if group.get("pinned_client_id")]
    if len(pins) == 1 and len(config.get("priority_groups") or []) == 1:
        return f"client {pins[0]['pinned_client_id']}"
    return ""
