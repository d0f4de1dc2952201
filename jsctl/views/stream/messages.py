"""Stored messages: `stream view`, `stream get`. The text is not cleaned yet."""

from collections.abc import AsyncGenerator, Sequence

from jsctl.base.units import compute_age, format_duration, format_time_us, seconds_to_ns, to_ns
from jsctl.jetstream.api import Json
from jsctl.jetstream.message.browse import get_record
from jsctl.jetstream.message.payload import encode_field, encode_headers_field, format_payload
from jsctl.nats.message import Message
from jsctl.views.events import End, Events, Presentation, once
from jsctl.views.message.text import body


def one(
    stream: str, message: Message, now: float, *, raw: bool, data: bytes | None = None
) -> Events[Message]:
    """Return a message with its views; the document is what the server sent.

    data: the payload translated. now: seconds since the epoch.
    """

    def payload(message: Message) -> bytes:
        return message.data if data is None else data

    def text(message: Message) -> str:
        span = format_duration(compute_age(message.timestamp, seconds_to_ns(now)))
        lines = [
            f"Item: {stream}#{message.sequence} received {format_time_us(to_ns(message.timestamp))}"
            f" ({span}) on Subject {message.subject}",
            "",
        ]
        if headers := _list_headers(message):
            lines += ["Headers:", *headers, ""]
        return "\n".join([*lines, body(payload(message)), ""])

    return Events(
        batches=once(message),
        shown=Presentation(
            text=(lambda message: format_payload(payload(message)) + "\n") if raw else text,
            record=get_record,
            folds="" if raw else "first",
            raw=payload if raw else None,
            layout="single",
        ),
    )


def several(
    batches: AsyncGenerator[Sequence[Message], None],
    *,
    raw: bool,
    limit: int,
    follow: bool = False,
    names_stream: bool = False,
) -> Events[Message]:
    """Return messages, each with its views. follow: they have no end; in JSON each is a line. names_stream:
    the text for people has the stream of each.
    """
    text = _listed_with_stream if names_stream else listed
    return Events(
        batches=batches,
        shown=Presentation(
            text=(lambda message: format_payload(message.data) + "\n") if raw else text,
            record=record,
            folds="" if raw else "first",
            raw=(lambda message: message.data + b"\n") if raw else None,
            layout="lines" if follow else "array",
        ),
        end=End(limit=limit, endless=follow),
    )


def listed(message: Message) -> str:
    """Return a message of `stream view`, an empty line after it."""
    received = format_time_us(to_ns(message.timestamp))
    head = f"[{message.sequence}] Subject: {message.subject} Received: {received}"
    headers = _list_headers(message)
    return "\n".join([head, *(["", *headers, ""] if headers else []), body(message.data), "", ""])


def _listed_with_stream(message: Message) -> str:
    return f"{message.metadata.stream if message.metadata else ''} {listed(message)}"


def record(message: Message) -> Json:
    """Return a message of `stream view --json` in the form of dumps, so that it can be published again."""
    record: Json = {
        "sequence": message.sequence,
        "time": message.timestamp,
        "stream": message.metadata.stream if message.metadata else "",
        "subject": message.subject,
    }
    if message.header_block:
        record |= encode_headers_field(message.headers)
    return {**record, **encode_field("data", message.data)}


def _list_headers(message: Message) -> list[str]:
    # A value is one line; form feeds separate the fields of Nats-Stream-Source.
    return [f"  {name}: {value}" for name, value in message.headers]
