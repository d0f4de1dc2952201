"""Messages that a consumer gave, as people and programs read them."""

from typing import Any

from jsctl.jetstream.message.payload import data_field, headers_field, shown
from jsctl.nats.headers import parse_headers
from jsctl.nats.message import Message
from jsctl.units import format_clock, format_count, format_rfc3339, seconds_to_ns

Json = dict[str, Any]


def message(item: Message, now: float) -> str:
    """A message of `consumer next`, as the `nats` tool shows it. now: seconds since the epoch."""
    if meta := item.metadata:
        at = format_clock(seconds_to_ns(now))
        lines = [
            f"[{at}] subj: {item.subject} / tries: {meta.delivered} / cons seq: {meta.consumer_sequence}"
            f" / str seq: {meta.sequence} / pending: {format_count(meta.pending)}"
        ]
    else:
        lines = [f"--- subject: {item.subject}" + (f" reply: {item.reply}" if item.reply else "")]
    if pairs := parse_headers(item.header_block):
        lines += ["", "Headers:", "", *(f"  {key}: {value}" for key, value in pairs), "", "Data:", ""]
    return "\n".join([*lines, "", shown(item.data)])


def record(item: Message) -> Json:
    """A message as JSON: what `pub --from-dump` reads, and where it is in its consumer."""
    found: Json = {}
    if meta := item.metadata:
        found = {
            "sequence": meta.sequence,
            "time": format_rfc3339(meta.time),
            "stream": meta.stream,
            "consumer": meta.consumer,
            "consumer_sequence": meta.consumer_sequence,
            "delivered": meta.delivered,
            "pending": meta.pending,
        }
    found["subject"] = item.subject
    if item.header_block:
        found["headers"] = headers_field(parse_headers(item.header_block))
    return {**found, **data_field(item.data)}
