"""The JSON records of `jsctl report`, with their keys."""

from typing import Any, NamedTuple

from jsctl.monitor.report.lines import ConsumerLine, LinkLine, StreamLine
from jsctl.monitor.stream.rows import STREAM_KEYS
from jsctl.monitor.trouble import find_level
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


def stream_line(line: StreamLine) -> Line:
    """Return the row of a stream; its rates are null without two answers."""
    row = line.row
    record = {key: getattr(row, key) for key in STREAM_KEYS}
    record["peers"] = list(row.peers)
    record["message_rate"] = line.rate
    record["byte_rate"] = line.growth
    return _build_line(record, line)


def link_line(line: LinkLine) -> Line:
    """Return the row of a mirror or source."""
    record = _LINK(line.row)
    record["lag_messages"] = line.row.lag
    record["lag_rate"] = line.trend.slope
    return _build_line(record, line)


def consumer_line(line: ConsumerLine) -> Line:
    """Return the row of a consumer."""
    return _build_line({**_CONSUMER(line), "lag_messages": line.unprocessed}, line)


def _build_line(record: Record, line: StreamLine | LinkLine | ConsumerLine) -> Line:
    record["trouble"] = [trouble.words for trouble in line.troubles]
    record["codes"] = list(dict.fromkeys(trouble.code for trouble in line.troubles))
    return Line(record, find_level(line.troubles))
