"""What differs between two configurations: what changes, and nothing that only reads differently."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from jsctl.jetstream.config.fields import FIELDS
from jsctl.units import SECOND

Json = dict[str, Any]


_PLAIN = {
    "compression": "none",
    "persist_mode": "default",
    "ack_wait": 30 * SECOND,
    "max_ack_pending": 1000,
    "max_deliver": -1,
    "max_waiting": 512,
}
"""What stands where nothing was said: left out by the server, or by a file."""
_BOUNDS = {".".join(field.path) for field in FIELDS if field.kind in ("limit", "size")}
_TURNS_ON = {
    "subject_delete_marker_ttl": ("allow_msg_ttl", "allow_rollup_hdrs"),
    "allow_msg_schedules": ("allow_rollup_hdrs",),
}
"""What a server turns on with a key, whatever it is told (nats-server: checkStreamCfg)."""


class Difference(NamedTuple):
    """A key, written with dots, and its values; None where one side lacks it."""

    key: str
    before: Any
    after: Any


def differences(before: Json, after: Json) -> list[Difference]:
    """By key. Lists count as sets (the server keeps no order of subjects, tags or sources), and what is
    missing equals what is empty, zero or false; every limit below 1 is none."""
    forced = {key: True for cause, keys in _TURNS_ON.items() if after.get(cause) for key in keys}
    return list(_walk("", before, {**after, **forced}))


def _walk(path: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Difference]:
    for key in [*before, *(key for key in after if key not in before)]:
        old, new = before.get(key), after.get(key)
        if isinstance(old or {}, dict) and isinstance(new or {}, dict) and (old or new):
            yield from _walk(f"{path}{key}.", old or {}, new or {})
        elif _canonical(path + key, old) != _canonical(path + key, new):
            yield Difference(path + key, old, new)


def _canonical(key: str, value: Any) -> Any:
    if value == _PLAIN.get(key) or (key in _BOUNDS and isinstance(value, int) and value < 1):
        return None
    if isinstance(value, list):
        return sorted(json.dumps(filled(one), sort_keys=True) for one in value) or None
    return value or None


def filled(value: Any) -> Any:
    """Without what is empty: the server adds `deliver: ""` to a source of another domain."""
    if not isinstance(value, dict):
        return value
    kept = {key: filled(inner) for key, inner in value.items()}
    return {key: inner for key, inner in kept.items() if inner}
