"""What is wrong with a stream, a mirror or source, a consumer or an account, in a few words. No I/O.

A mirror or source hears from its origin every few seconds, also when there is nothing to copy (nats-server
sends idle heartbeats), so half a minute of silence means that the link is cut. When the API prefix of an
origin is wrong, servers report no error; the only sign is that the origin was never seen.
"""

import itertools
from collections.abc import Iterator, Sequence
from datetime import datetime

from jsctl.jetstream.api import Json
from jsctl.monitor.consumer.diagnosis import find_troubles
from jsctl.monitor.consumer.facts import Facts
from jsctl.monitor.stream.rows import ReplicationRow
from jsctl.monitor.trouble import Trouble, check_replicas, has_leader, is_settled
from jsctl.units import NEVER, SECOND, format_count, format_exact_duration, truncate_to_seconds

NEARLY = 0.9  #: the share of a limit above which there is a warning
SILENT = 30 * SECOND  #: ns since an origin was last heard from


def check_stream(info: Json, now: datetime) -> list[Trouble]:
    """Return the problems of a stream: leader, replicas, lost messages, limits that refuse messages or lose
    unread ones."""
    leader_troubles = [] if has_leader(info) else [Trouble("no leader", True)]
    return [
        *leader_troubles,
        *check_replicas(info, now),
        *_check_lost(info["state"]),
        *check_stream_limits(info),
    ]


def check_link(row: ReplicationRow, lags: Sequence[int], created: str | None, now: datetime) -> list[Trouble]:
    """Return what is wrong with a mirror or source. lags: the last ones, oldest first. created: when its
    stream was."""
    troubles = []
    if row.error:
        troubles.append(Trouble("error", True))
    if row.active == NEVER:
        if not row.error and is_settled(created, now):
            troubles.append(Trouble("never seen", True))
    elif row.active >= SILENT:
        troubles.append(
            Trouble(f"not seen for {format_exact_duration(truncate_to_seconds(row.active))}", True)
        )
    if is_growing(lags):
        troubles.append(Trouble("lag growing", False))
    elif len(lags) >= 3 and row.lag > 0 and min(lags) == max(lags):
        troubles.append(Trouble("lag stuck", False))
    return troubles


def check_consumer(facts: Facts, pending: Sequence[int]) -> list[Trouble]:
    """Return what is wrong with a consumer. pending: its last counts of unprocessed messages, oldest
    first."""
    troubles = find_troubles(facts)
    if is_growing(pending):
        troubles.append(Trouble("falling behind", False))
    return troubles


def check_account(info: Json) -> list[Trouble]:
    """Return the limits of the account (of each tier) that are nearly reached. info: `$JS.API.INFO`."""
    troubles: list[Trouble] = []
    tiers: dict[str, Json] = info.get("tiers") or ({"": info} if info else {})
    for name, tier in tiers.items():
        limits = tier.get("limits") or {}
        where = f" ({name})" if name else ""
        for used, limit, words in (
            (tier.get("storage", 0), limits.get("max_storage", -1), "file storage"),
            (tier.get("memory", 0), limits.get("max_memory", -1), "memory storage"),
            (tier.get("streams", 0), limits.get("max_streams", -1), "streams"),
            (tier.get("consumers", 0), limits.get("max_consumers", -1), "consumers"),
        ):
            if limit and limit > 0 and used >= NEARLY * limit:
                troubles.append(
                    Trouble(f"{_format_share(used, limit)} of the account's {words}{where}", used >= limit)
                )
    return troubles


def is_growing(numbers: Sequence[int]) -> bool:
    """Return whether numbers, oldest first, grow steadily.

    They do when there are at least three, none is lower than the previous one, and the last is at least 2
    above the first.
    """
    return (
        len(numbers) >= 3
        and all(a <= b for a, b in itertools.pairwise(numbers))
        and numbers[-1] - numbers[0] >= 2
    )


def check_stream_limits(info: Json) -> Iterator[Trouble]:
    """Yield the limits of a stream that are nearly reached, and that refuse messages or lose unread ones."""
    config, state = info["config"], info["state"]
    # A stream that discards old messages at its limits reaches them in ordinary work.
    if config.get("discard") == "new" or config.get("retention", "limits") != "limits":
        for used, limit, words in (
            (state.get("messages", 0), config.get("max_msgs", -1), "messages"),
            (state.get("bytes", 0), config.get("max_bytes", -1), "bytes"),
        ):
            if limit > 0 and used >= NEARLY * limit:
                yield Trouble(f"{_format_share(used, limit)} of its {words}", used >= limit)
    max_consumers = config.get("max_consumers", -1)
    if max_consumers > 0 and state.get("consumer_count", 0) >= NEARLY * max_consumers:
        yield Trouble(f"{_format_share(state['consumer_count'], max_consumers)} of its consumers", False)


def _check_lost(state: Json) -> Iterator[Trouble]:
    lost = len((state.get("lost") or {}).get("msgs") or ())
    if lost:
        yield Trouble(f"{format_count(lost)} lost", True)


def _format_share(used: int, limit: int) -> str:
    return f"{used * 100 // limit}%"
