"""`stream rmm`: intents and results."""

from collections.abc import Sequence

from jsctl.base.units import format_bytes, pluralize
from jsctl.jetstream.api import Json
from jsctl.nats.message import Message
from jsctl.views.intent import Intent
from jsctl.views.result import Result, report


def intent(stream: str, messages: Sequence[Message], size: int) -> Intent:
    """Return the intent to remove messages. size: bytes of the messages."""
    description = f"{pluralize(len(messages), 'message')}, {format_bytes(size)}"
    lines = [f"Would remove from Stream {stream}: {description}"]
    lines += [f"  {message.sequence}  {message.subject}" for message in messages]
    if len(messages) == 1:
        description = f"message {messages[0].sequence} ({messages[0].subject}, {format_bytes(size)})"
    facts = {"stream": stream, "bytes": size, "messages": _list_records(stream, messages, removed=False)}
    return Intent(f"remove {description} from Stream {stream}", facts, lines)


def removed(stream: str, messages: Sequence[Message]) -> Result:
    """Return which messages were removed."""
    label = f"message {messages[0].sequence}" if len(messages) == 1 else pluralize(len(messages), "message")
    return report(f"Removed {label} from Stream {stream}", _list_records(stream, messages, removed=True))


def _list_records(stream: str, messages: Sequence[Message], *, removed: bool) -> list[Json]:
    return [
        {"stream": stream, "sequence": message.sequence, "subject": message.subject, "removed": removed}
        for message in messages
    ]
