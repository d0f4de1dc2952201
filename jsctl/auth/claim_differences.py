"""The claims that differ between two JWTs, as lines."""

import json
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

_BESIDE = ("name", "sub", "exp", "nbf", "iss")
"""The claims beside `nats` that are compared; the others differ in each JWT."""


def find_claim_differences(
    after: Json, before: Json, *, beside: tuple[str, ...] = _BESIDE, width: int = 0
) -> list[str]:
    """Return the claims that differ, each as `limits.conn: 5 -> 7`: before, then after.

    beside: the claims beside `nats` to compare. width: maximum number of characters of a value; 0 for all.
    """
    changes = [
        _format_change(key, before.get(key), after.get(key), width)
        for key in beside
        if before.get(key) != after.get(key)
    ]
    return changes + list(_compare(after.get("nats") or {}, before.get("nats") or {}, "", width))


def _compare(after: Json, before: Json, path: str, width: int) -> Iterator[str]:
    for key in sorted({*after, *before}):
        old, new = before.get(key), after.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            yield from _compare(new, old, f"{path}{key}.", width)
        elif old != new and (old or new):
            yield _format_change(f"{path}{key}", old, new, width)


def _format_change(key: str, old: Any, new: Any, width: int) -> str:
    return f"{key}: {_format(old, width)} -> {_format(new, width)}"


def _format(value: Any, width: int) -> str:
    text = "(none)" if value is None else json.dumps(value, ensure_ascii=False)
    return text if not width or len(text) <= width else text[: width - 3] + "..."
