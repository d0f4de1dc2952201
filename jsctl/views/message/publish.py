"""What `publish` says."""

from jsctl import units
from jsctl.jetstream.api import Json
from jsctl.jetstream.message.publish import Count
from jsctl.nats.message import OutgoingMessage
from jsctl.views.result import Result, Text


def published(message: OutgoingMessage) -> str:
    """The line of one message."""
    return f'Published {len(message.data)} bytes to "{message.subject}"'


def stored(ack: Json) -> str:
    """An ack: `Stored in Stream: ORDERS Sequence: 12`."""
    line = f"Stored in Stream: {ack.get('stream', '')} Sequence: {units.format_count(int(ack.get('seq', 0)))}"
    if ack.get("domain"):
        line += f' Domain: "{ack["domain"]}"'
    if ack.get("duplicate"):
        line += " Duplicate: true"
    if ack.get("val"):
        line += f" Counter Value: {ack['val']}"
    return line


def batch(ack: Json) -> Result:
    """An atomic batch."""
    line = (
        f"Wrote batch ID: {ack.get('batch', '')} Messages: {units.format_count(int(ack.get('count', 0)))}"
        f" Sequence: {units.format_count(int(ack.get('seq', 0)))}"
    )
    if ack.get("domain"):
        line += f' Domain: "{ack["domain"]}"'
    return Result([Text(line)], data=ack)


def result(count: Count, seconds: float, *, quiet: bool, spoken: bool) -> Result:
    """The sum. spoken: each message had its own line. quiet: people see nothing."""
    if count.messages == 1 and count.acks:
        data: Json = count.acks[0]
    else:
        data = {"messages": count.messages, "bytes": count.bytes, "seconds": round(seconds, 6)}
        if count.streams:
            data["streams"] = [
                {"stream": name, "first_seq": first, "last_seq": last}
                for name, (first, last) in count.streams.items()
            ]
            data["duplicates"] = count.duplicates
    if quiet or spoken:
        return Result(data=data)
    rate = count.messages / seconds if seconds > 0 else 0
    lines = [
        f"Published {units.format_count(count.messages)} message{'s' * (count.messages != 1)},"
        f" {units.format_bytes(count.bytes)} in {units.format_duration(round(seconds * units.SECOND))},"
        f" {units.format_count(round(rate))} messages a second"
    ]
    for name, (first, last) in count.streams.items():
        lines.append(f"Stored in Stream: {name} Sequences: {first:,} to {last:,}")
    if count.duplicates:
        lines.append(f"Duplicates: {count.duplicates:,}")
    return Result([Text("\n".join(lines))], data=data)
