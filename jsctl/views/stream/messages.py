"""Stored messages as people see them."""

from typing import Any

from jsctl.jetstream.message.browse import stored_record
from jsctl.jetstream.message.payload import data_field, headers_field, shown
from jsctl.nats.headers import parse_headers
from jsctl.nats.message import Message
from jsctl.units import age, format_duration, format_time, seconds_to_ns
from jsctl.views.result import Result, Text

Json = dict[str, Any]


def one(stream: str, message: Message, body: bytes, now: float) -> Result:
    """`stream get`; the document is what the server said. body: the payload, translated or not."""
    head = (
        f"Item: {stream}#{message.sequence} received {format_time(message.timestamp)}"
        f" ({format_duration(age(message.timestamp, seconds_to_ns(now)))}) on Subject {message.subject}"
    )
    lines = [head, ""]
    if headers := _headers(message):
        lines += ["Headers:", *headers, ""]
    return Result([Text("\n".join([*lines, _body(body)]))], data=stored_record(message))


def listed(message: Message, body: bytes) -> Text:
    """A message of `stream view`, an empty line after it."""
    head = f"[{message.sequence}] Subject: {message.subject} Received: {format_time(message.timestamp)}"
    headers = _headers(message)
    return Text("\n".join([head, *(["", *headers, ""] if headers else []), _body(body), ""]))


def record(stream: str, message: Message, body: bytes) -> Json:
    """A message of `stream view --json`: as dumps have it, so that it can be published again."""
    found: Json = {
        "sequence": message.sequence,
        "time": message.timestamp,
        "stream": stream,
        "subject": message.subject,
    }
    if message.header_block:
        found["headers"] = headers_field(parse_headers(message.header_block))
    return {**found, **data_field(body)}


def _headers(message: Message) -> list[str]:
    # A value is one line; form feeds part the fields of Nats-Stream-Source.
    return [f"  {key}: {value}" for key, value in parse_headers(message.header_block)]


def _body(body: bytes) -> str:
    return shown(body).removesuffix("\n") if body else "nil body"
