"""Values from the infos of streams and consumers that several modules need."""

from collections.abc import Mapping
from typing import Any

from jsctl.base.units import NEVER
from jsctl.jetstream.api import Json

MARK = "jsctl.unfinished"
"""Metadata key of a stream that a restore or copy has not filled yet (see `backup.marks`); the value is the
step and when it began."""


def get_mark(info: Json) -> str:
    """Return the mark of a stream, empty for one that is finished."""
    return str(((info.get("config") or {}).get("metadata") or {}).get(MARK, ""))


def count_deleted(state: Json) -> int:
    """Return how many messages between a stream's first and last one were deleted."""
    return len(state.get("deleted") or ()) or int(state.get("num_deleted", 0))


def is_full(config: Json, state: Json) -> bool:
    """Return whether a stream refuses the next message, one of average size: it discards new ones."""
    if config.get("discard") != "new":
        return False
    messages, size = int(state.get("messages", 0)), int(state.get("bytes", 0))
    max_messages, max_size = int(config.get("max_msgs") or -1), int(config.get("max_bytes") or -1)
    return 0 < max_messages <= messages or 0 < max_size < size + size // max(messages, 1)


def count_lost(state: Json) -> tuple[int, int]:
    """Return how many messages and bytes of a stream the server has lost."""
    lost = state.get("lost") or {}
    return len(lost.get("msgs") or ()), int(lost.get("bytes", 0))


def find_required_level(config: Json) -> int:
    """Return the API level that a configuration needs, from the metadata that the server adds (ADR-44)."""
    level = (config.get("metadata") or {}).get("_nats.req.level", "0")
    return int(level) if level.isdigit() else 0


def format_origin_filters(source: Mapping[str, Any]) -> str:
    """Describe the subjects that a mirror or source copies: `a.> to b.>, c untransformed`; empty for all."""
    transforms = source.get("subject_transforms") or []
    parts = [
        f"{t.get('src', '')} to {t['dest']}" if t.get("dest") else f"{t.get('src', '')} untransformed"
        for t in transforms
    ]
    if not parts and source.get("filter_subject"):
        parts = [f"{source['filter_subject']} untransformed"]
    return ", ".join(parts)


def read_last_active(source: Json) -> int:
    """Return the ns since a mirror or source last heard from its origin; NEVER if it never has."""
    active = int(source.get("active", NEVER))
    # Older servers write the largest number for never.
    return NEVER if active < 0 or active >= (1 << 63) - 1 else active


def format_placement(config: Json) -> str:
    """Describe the configured placement of a stream: `cluster: c1 tags: a, b`."""
    placement = config.get("placement") or {}
    parts = [f"cluster: {placement['cluster']}"] if placement.get("cluster") else []
    if placement.get("tags"):
        parts.append(f"tags: {', '.join(placement['tags'])}")
    return " ".join(parts)


def format_followers(cluster: Json) -> tuple[str, ...]:
    """Return the followers of a Raft group by name; `!` marks one that is offline or behind."""
    replicas = cluster.get("replicas")
    if not replicas:  # the usual case, returned quickly
        return ()
    return tuple(
        peer["name"] + ("!" if peer.get("offline") or not peer.get("current") else "")
        for peer in sorted(replicas, key=lambda peer: str(peer["name"]))
    )


def format_migration(info: Json) -> str:
    """Describe how far the servers, replicas or retention of a stream or consumer are changed (ADR-62), as
    `waiting for desired peers to catch up (catchup)`; empty if they are not."""
    desired = (info.get("cluster") or {}).get("desired")
    if not desired:
        return ""
    status = desired.get("status") or {}
    kind = f" ({status['type']})" if status.get("type") else ""
    return f"{status.get('description') or 'it has begun'}{kind}"


def list_peers(info: Json) -> list[str]:
    """Return the servers of a stream's or consumer's group, the leader first."""
    cluster: Json = info.get("cluster") or {}
    replicas = cluster.get("replicas") or []
    names = [str(cluster.get("leader") or ""), *(str(peer["name"]) for peer in replicas)]
    return [name for name in names if name]


def list_joined_peers(info: Json) -> list[str]:
    """Return the servers that have joined a group, the leader first."""
    replicas = (info.get("cluster") or {}).get("replicas") or []
    pending = {peer["name"] for peer in replicas if peer.get("pending")}
    return [name for name in list_peers(info) if name not in pending]


def list_absent_peers(info: Json) -> list[str]:
    """Return the ids of the servers that a group waits for while it gains replicas, or after that was taken
    back (ADR-62). Empty while it moves to other servers, or only loses some."""
    cluster: Json = info.get("cluster") or {}
    pending = [peer for peer in cluster.get("replicas") or [] if peer.get("pending")]
    desired = (cluster.get("desired") or {}).get("replicas") or []
    joined = set(list_joined_peers(info))
    if desired and not joined <= {peer["name"] for peer in desired}:
        return []
    absent = [*pending, *(peer for peer in desired if peer["name"] not in joined)]
    return list(dict.fromkeys(str(peer.get("peer") or peer["name"]) for peer in absent))


def is_silent(info: Json) -> bool:
    """Return whether another server lists a stream instead of its own, which are offline."""
    return bool(info.get("cluster")) and not info["cluster"].get("leader")
