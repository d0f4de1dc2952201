"""`stream rmm`: what it would remove, the question before, and what it removed."""

from collections.abc import Sequence

from jsctl.jetstream.api import Json
from jsctl.nats.message import Message
from jsctl.units import format_bytes, plural
from jsctl.views.result import Result, Text


def dry_run(stream: str, messages: Sequence[Message], size: int) -> Result:
    """`--dry-run`. size: bytes of the messages."""
    listed = "\n".join(f"  {message.sequence}  {message.subject}" for message in messages)
    text = f"Would remove from Stream {stream}: {_amount(messages, size)}\n{listed}\nNothing was changed"
    return Result([Text(text)], data=_records(stream, messages, removed=False))


def question(stream: str, messages: Sequence[Message], size: int) -> str:
    """Return the one question before messages are removed. size: their bytes."""
    what = _amount(messages, size)
    if len(messages) == 1:
        what = f"message {messages[0].sequence} ({messages[0].subject}, {format_bytes(size)})"
    return f"Really remove {what} from Stream {stream}"


def removed(stream: str, messages: Sequence[Message]) -> Result:
    """Return which messages were removed."""
    what = f"message {messages[0].sequence}" if len(messages) == 1 else plural(len(messages), "message")
    text = f"Removed {what} from Stream {stream}"
    return Result([Text(text)], data=_records(stream, messages, removed=True))


def _records(stream: str, messages: Sequence[Message], *, removed: bool) -> list[Json]:
    return [
        {"stream": stream, "sequence": message.sequence, "subject": message.subject, "removed": removed}
        for message in messages
    ]


def _amount(messages: Sequence[Message], size: int) -> str:
    return f"{plural(len(messages), 'message')}, {format_bytes(size)}"
