"""The JSON records of `jsctl report`, with their keys."""

from typing import Any, NamedTuple

from jsctl.monitor.report.rows import ConsumerStatus, LinkStatus, StreamStatus, find_level
from jsctl.monitor.stream.rows import STREAM_KEYS
from jsctl.views.shared.tables import LINK_KEYS, recorder

Record = dict[str, Any]

CONSUMER_KEYS = (
    "stream",
    "consumer",
    "mode",
    "ack_pending",
    "redelivered",
    "unprocessed",
    "unprocessed_rate",
    "last_delivery_ns",
)
_TROUBLE_KEYS = ("trouble", "codes")
KEYS = {
    "streams": (*STREAM_KEYS, "message_rate", "byte_rate", *_TROUBLE_KEYS),
    "replication": (*LINK_KEYS, "lag_messages", "lag_rate", *_TROUBLE_KEYS),
    "consumers": (*CONSUMER_KEYS, "lag_messages", *_TROUBLE_KEYS),
}
"""The keys of the rows of each list."""
_LINK, _CONSUMER = recorder(LINK_KEYS), recorder(CONSUMER_KEYS)


class Line(NamedTuple):
    """A row of a table.

    record: its JSON object, with what is wrong in words under `trouble`. level: FINE, WARN or BAD.
    """

    record: Record
    level: int


def stream_line(status: StreamStatus) -> Line:
    """Return the row of a stream; its rates are null without two answers."""
    row = status.stream
    record = {key: getattr(row, key) for key in STREAM_KEYS}
    record["peers"] = list(row.peers)
    record["message_rate"] = status.message_rate
    record["byte_rate"] = status.byte_rate
    return _build_line(record, status)


def link_line(status: LinkStatus) -> Line:
    """Return the row of a mirror or source."""
    record = _LINK(status.link)
    record["lag_messages"] = status.link.lag
    record["lag_rate"] = status.lag_rate
    return _build_line(record, status)


def consumer_line(status: ConsumerStatus) -> Line:
    """Return the row of a consumer."""
    return _build_line({**_CONSUMER(status), "lag_messages": status.unprocessed}, status)


def _build_line(record: Record, status: StreamStatus | LinkStatus | ConsumerStatus) -> Line:
    record["trouble"] = [trouble.words for trouble in status.troubles]
    record["codes"] = list(dict.fromkeys(trouble.code for trouble in status.troubles))
    return Line(record, find_level(status.troubles))
