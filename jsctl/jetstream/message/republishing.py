"""What becomes of the headers of stored messages that `import`, `redrive` and Spark's sink publish again.

Backups, restores and copies send what servers stored, with all headers; the server acts on none of them then.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TypeVar

Value = TypeVar("Value", str, bytes)

MESSAGE_ID = "Nats-Msg-Id"

DROPPED = (
    *("Nats-Expected-*", "Nats-Batch-*", "Nats-Rollup"),
    *("Nats-Stream-Source", "Nats-Scheduler", "Nats-Schedule-Next"),
)
"""Names of headers that instructed the server that stored the message, or that it added; * stands for any
text. With them, a message published again is refused, or removes others (nats-server: stream.go)."""

NEEDED_SETTINGS: Mapping[str, str] = {
    "Nats-TTL": "allow_msg_ttl",
    "Nats-Schedule*": "allow_msg_schedules",
    "Nats-Incr": "allow_msg_counter",
}
"""The settings without which a stream refuses messages with a header, by header (ADR-43, ADR-51, ADR-49)."""


def build_pattern(names: Iterable[str]) -> str:
    """Return the regular expression, of Python and Java, for names of headers in lower case."""
    return f"^({'|'.join('.*'.join(map(re.escape, name.lower().split('*'))) for name in names)})$"


def drop_headers(headers: Iterable[tuple[str, Value]], names: Iterable[str]) -> list[tuple[str, Value]]:
    """Return the headers that have none of these names, in which * stands for any text."""
    pattern = _compile(tuple(names))
    return [(name, value) for name, value in headers if not pattern.match(name.lower())]


def find_refusable(names: Iterable[str]) -> list[str]:
    """Return those names of headers for which a stream may refuse a message."""
    pattern = _compile((*DROPPED, *NEEDED_SETTINGS))
    return [name for name in names if pattern.match(name.lower())]


@cache
def _compile(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(build_pattern(names))
