"""`server report downgrade`: what needs a higher API level than another server version has."""

from collections.abc import Sequence

from jsctl.monitor.server.downgrade import ConsumerLevel, StreamLevel
from jsctl.views.result import Cell, Column, Part, Result, Table, Text, recorder

STREAMS = (
    Column("Account", "account"),
    Column("Stream", "name"),
    Column("Required API Level", "api_level", "number"),
)
_CONSUMERS = (
    Column("Account", "account"),
    Column("Stream", "stream"),
    Column("Consumer", "name"),
    Column("Required API Level", "api_level", "number"),
)
_record_stream = recorder(("account", "name", "api_level"))
_record_consumer = recorder(("account", "name", "stream", "api_level"))


def downgrade(streams: Sequence[StreamLevel], consumers: Sequence[ConsumerLevel], level: int) -> Result:
    """Show what needs more than an API level; a star marks streams that need more themselves."""
    parts: list[Part] = []
    if streams:
        parts.append(Table("Streams", STREAMS, streams))
    if consumers:
        rows = [
            (item.account, Cell(item.stream, item.stream + "*" * (not item.stays)), item.name, item.api_level)
            for item in consumers
        ]
        parts.append(Table("Consumers", _CONSUMERS, rows))
    if not parts:
        parts.append(Text(f"All streams and consumers work with API level {level}.", "good"))
    document = {
        "streams": list(map(_record_stream, streams)),
        "consumers": list(map(_record_consumer, consumers)),
    }
    return Result(parts, data=document)
