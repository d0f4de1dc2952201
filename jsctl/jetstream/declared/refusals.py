"""Changes that the server refuses, told before anything is sent (server: checkStreamCfg,
configUpdateCheck; acceptableConsumerUpdate; each tried on nats-server 2.15)."""

from collections.abc import Mapping, Sequence
from typing import Any

from jsctl.jetstream.config.differences import Difference

ANEW = "cannot be changed: remove and add"
_PAUSE = "cannot be changed here: jsctl consumer pause and resume do"
_FIXED = frozenset({"storage", "persist_mode", "allow_msg_counter"})
_ONE_WAY = frozenset({"deny_delete", "deny_purge", "allow_msg_ttl", "allow_msg_schedules", "sealed"})
_CONSUMER_FIXED = frozenset({
    "ack_policy", "deliver_policy", "replay_policy", "max_waiting", "mem_storage", "idle_heartbeat",
    "flow_control", "opt_start_seq", "opt_start_time", "durable_name",
})  # fmt: skip


def stream_refusals(
    before: Mapping[str, Any], after: Mapping[str, Any], changes: Sequence[Difference]
) -> dict[str, str]:
    """Why, by key."""
    if before.get("sealed"):
        return {change.key: "the stream is sealed" for change in changes}
    found = {}
    for change in changes:
        top = change.key.partition(".")[0]
        # A mirror may become a stream of its own, and nothing else.
        mirror = top == "mirror" and bool(after.get("mirror"))
        queue = top == "retention" and "workqueue" in (change.before, change.after)
        back = top in _ONE_WAY and bool(change.before)
        if top in _FIXED or mirror or queue or back:
            found[change.key] = ANEW
    return found


def consumer_refusals(
    before: Mapping[str, Any], after: Mapping[str, Any], changes: Sequence[Difference]
) -> dict[str, str]:
    """Why, by key."""
    turned = bool(before.get("deliver_subject")) != bool(after.get("deliver_subject"))
    found = {}
    for change in changes:
        if change.key in _CONSUMER_FIXED or (change.key == "deliver_subject" and turned):
            found[change.key] = ANEW
        elif change.key == "pause_until":
            found[change.key] = _PAUSE
    return found
