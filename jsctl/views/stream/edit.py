"""Changes of a configuration as people see them."""

import json
from collections.abc import Sequence
from typing import Any

from jsctl.jetstream.config.differences import Difference
from jsctl.units import exact_duration
from jsctl.views.result import Column, Result, Table

_COLUMNS = (Column("Key", "key"), Column("Now", "before"), Column("Then", "after"))
_SPANS = (
    "max_age", "duplicate_window", "subject_delete_marker_ttl", "inactive_threshold", "ack_wait",
    "idle_heartbeat", "max_expires", "priority_timeout",
)  # fmt: skip


def changes(found: Sequence[Difference]) -> Result:
    """What would change, key by key."""
    rows = [(one.key, shown(one.key, one.before), shown(one.key, one.after)) for one in found]
    return Result([Table("Changes", _COLUMNS, rows)], data=[one._asdict() for one in found])


def line(change: Difference) -> str:
    """`max_age: 0s -> 30d0h0m0s`."""
    return f"{change.key}: {shown(change.key, change.before)} -> {shown(change.key, change.after)}"


def shown(key: str, value: Any) -> str:
    """A value for people."""
    if value is None:
        return "(not set)"
    if isinstance(value, int) and key.rpartition(".")[2] in _SPANS:
        return exact_duration(value)
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False)
