"""What a consumer gave up: `consumer dead`."""

from collections import Counter

from jsctl.base.units import NEVER, compute_age, format_count, pluralize, seconds_to_ns
from jsctl.jetstream.api import Json
from jsctl.monitor.consumer.dead_letters import (
    LEFT_BEHIND,
    MAX_DELIVER,
    REMOVED,
    TERMINATED,
    DeadLetter,
    DeadLetters,
    build_capture_line,
)
from jsctl.nats.message import Message
from jsctl.views.result import Column, Part, Result, Table, Text
from jsctl.views.stream import messages

COLUMNS = (
    Column("Sequence", "sequence", "count"),
    Column("Subject", "subject", optional=True),
    Column("Time", "time", "time", hideable=3, optional=True),
    Column("Age", "age", "ago"),
    Column("Deliveries", "deliveries", "count", optional=True),
    Column("Reason", "reason"),
    Column("Detail", "detail", "prose", hideable=1, optional=True),
    Column("Given Up", "given_up", "time", hideable=2, optional=True),
    Column("Bytes", "bytes", "bytes", hideable=4),
    Column("Stored", "stored", "bool", hideable=5),
)
_COUNTS = (Column("Reason", "reason"), Column("Subject", "subject"), Column("Messages", "messages", "count"))
REASONS = {
    MAX_DELIVER: "was not acknowledged after its last delivery",
    TERMINATED: "was terminated by a client",
    REMOVED: "was removed from the stream before it was acknowledged",
    LEFT_BEHIND: "is left in the stream behind its consumer",
}


def list_letters(stream: str, consumer: str, dead: DeadLetters, now: float) -> Result:
    """Show each message. now: seconds since the epoch."""
    rows = [
        (
            letter.sequence,
            letter.subject or None,
            letter.time or None,
            compute_age(letter.time, seconds_to_ns(now)) if letter.time else NEVER,
            letter.dead.deliveries or None,
            letter.dead.reason,
            letter.dead.detail,
            letter.dead.given_up or None,
            letter.bytes if letter.is_stored else None,
            letter.is_stored,
        )
        for letter in dead.letters
    ]
    title = f"{pluralize(len(rows), 'Dead Letter')} of Consumer {stream} > {consumer}"
    parts: list[Part] = [
        Table(
            title,
            COLUMNS,
            rows,
            empty=_describe_none(stream, consumer, dead),
        )
    ]
    return Result([*parts, *_describe_capture(stream, consumer, dead)])


def count_letters(stream: str, consumer: str, dead: DeadLetters) -> Result:
    """Show how many messages there are by reason and subject, the most first."""
    counts = Counter((letter.dead.reason, letter.subject) for letter in dead.letters)
    rows = [(reason, subject or None, count) for (reason, subject), count in counts.most_common()]
    title = f"Dead Letters of Consumer {stream} > {consumer}"
    empty = _describe_none(stream, consumer, dead)
    footer = ("", "", len(dead.letters)) if len(rows) > 1 else None
    return Result(
        [Table(title, _COUNTS, rows, footer=footer, empty=empty), *_describe_capture(stream, consumer, dead)]
    )


def _describe_none(stream: str, consumer: str, dead: DeadLetters) -> str:
    if dead.doubts:
        return f"It is not known which messages consumer {stream} > {consumer} has given up"
    none = f"Consumer {stream} > {consumer} has given up no messages"
    return f"{none}; what clients terminated is not known" if dead.misses_terminated else none


def _describe_capture(stream: str, consumer: str, dead: DeadLetters) -> list[Part]:
    if not dead.misses_terminated:
        return []
    line = build_capture_line(stream, consumer)
    return [Text(f"What clients terminate, and when, is known where advisories are stored: {line}", "dim")]


def show_letter(letter: DeadLetter, message: Message | None) -> str:
    """Return a message with its headers and payload, and why it was given up."""
    dead = letter.dead
    more = f" ({pluralize(dead.deliveries, 'delivery')})" if dead.deliveries else ""
    detail = f": {dead.detail}" if dead.detail else ""
    sentence = f"Message {format_count(letter.sequence)} {REASONS[dead.reason]}{more}{detail}\n"
    return sentence + (
        "It is not in the stream any more\n\n" if message is None else messages.listed(message)
    )


def record_letter(letter: DeadLetter, message: Message | None, stream: str) -> Json:
    """Return a message in the form of dumps, so that it can be published again, and why it was given up."""
    own = {"sequence": letter.sequence, "stream": stream}
    return {
        **(messages.record(message) if message else own),
        "deliveries": letter.dead.deliveries or None,
        "reason": letter.dead.reason,
        "detail": letter.dead.detail,
        "given_up": letter.dead.given_up or None,
    }
