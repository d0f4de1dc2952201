"""Values that are read from the infos of streams and consumers in several places."""

from jsctl.jetstream.api import Json


def deleted_messages(state: Json) -> int:
    """Returns how many messages between a stream's first and last one were deleted."""
    return len(state.get("deleted") or ()) or int(state.get("num_deleted", 0))


def lost_messages(state: Json) -> tuple[int, int]:
    """Returns how many messages, and how many bytes, the server has lost of a stream."""
    lost = state.get("lost") or {}
    return len(lost.get("msgs") or ()), int(lost.get("bytes", 0))


def required_level(config: Json) -> int:
    """Returns the API level that a configuration needs, from the metadata that the server adds (ADR-44)."""
    level = (config.get("metadata") or {}).get("_nats.req.level", "0")
    return int(level) if level.isdigit() else 0
