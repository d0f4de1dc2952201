"""Stored messages as people see them."""

from typing import Any

from jsctl.jetstream.message.browse import Stored
from jsctl.jetstream.message.payload import data_field, headers_field, shown
from jsctl.nats.codec import header_pairs
from jsctl.units import age, format_duration, format_time, seconds_to_ns
from jsctl.views.result import Result, Text

Json = dict[str, Any]


def one(stream: str, message: Stored, body: bytes, now: float) -> Result:
    """`stream get`; the document is what the server said. body: the payload, translated or not."""
    head = (
        f"Item: {stream}#{message.sequence} received {format_time(message.time)}"
        f" ({format_duration(age(message.time, seconds_to_ns(now)))}) on Subject {message.subject}"
    )
    lines = [head, ""]
    if headers := _headers(message):
        lines += ["Headers:", *headers, ""]
    return Result([Text("\n".join([*lines, _body(body)]))], data=message.record())


def listed(message: Stored, body: bytes) -> Text:
    """A message of `stream view`, an empty line after it."""
    head = f"[{message.sequence}] Subject: {message.subject} Received: {format_time(message.time)}"
    headers = _headers(message)
    return Text("\n".join([head, *(["", *headers, ""] if headers else []), _body(body), ""]))


def record(stream: str, message: Stored, body: bytes) -> Json:
    """A message of `stream view --json`: as dumps have it, so that it can be published again."""
    found: Json = {
        "sequence": message.sequence,
        "time": message.time,
        "stream": stream,
        "subject": message.subject,
    }
    if message.header:
        found["headers"] = headers_field(header_pairs(message.header))
    return {**found, **data_field(body)}


def _headers(message: Stored) -> list[str]:
    # A value is one line; form feeds part the fields of Nats-Stream-Source.
    return [f"  {key}: {value}" for key, value in header_pairs(message.header)]


def _body(body: bytes) -> str:
    return shown(body).removesuffix("\n") if body else "nil body"
