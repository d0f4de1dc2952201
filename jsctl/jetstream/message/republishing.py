"""What becomes of the headers of stored messages that are published again, by `import` and Spark's sink.

Backups, restores and copies send what servers stored, with all headers; the server acts on none of them then.
"""

import re
from collections.abc import Iterable, Mapping

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
