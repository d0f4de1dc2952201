"""Replies to requests: `request`."""

import time
from collections.abc import AsyncGenerator, Sequence
from typing import NamedTuple

from jsctl.base.units import format_exact_duration
from jsctl.jetstream.api import Json
from jsctl.jetstream.message import dump
from jsctl.nats.headers import Headers
from jsctl.nats.message import Message
from jsctl.views.events import End, Events, Presentation
from jsctl.views.message.text import body, header_lines, raw_bytes, raw_line


class Reply(NamedTuple):
    """A reply. number: counts the replies to one request. rtt: ns since the request was sent."""

    message: Message
    number: int
    rtt: int


def events(
    replies: AsyncGenerator[Sequence[Reply], None], *, raw: bool, exact: bool, quiet: bool, with_headers: bool
) -> Events[Reply]:
    """Return replies, each with its views.

    exact: raw payloads have no line end added. quiet: without lines on stderr ahead of each. with_headers:
    show headers with the payload; otherwise they are on stderr, and do not mix into what is captured.
    """
    if raw:
        return Events(
            batches=replies,
            shown=Presentation(
                text=lambda reply: raw_line(reply.message.data),
                record=record,
                raw=lambda reply: raw_bytes(reply.message.data, exact),
            ),
            end=End(noun="reply"),
        )
    return Events(
        batches=replies,
        shown=Presentation(
            text=text if with_headers else data_text,
            record=record,
            notice=None if quiet else notice if with_headers else headers_notice,
        ),
        end=End(noun="reply"),
    )


def notice(reply: Reply) -> str:
    """Return the line on stderr ahead of a reply."""
    return f"Received with rtt {format_exact_duration(reply.rtt)}"


def headers_notice(reply: Reply) -> str:
    """Return the lines on stderr ahead of a reply, its headers included."""
    return f"{notice(reply)}\n{header_lines(_build_headers(reply.message))}".removesuffix("\n")


def text(reply: Reply) -> str:
    """Return headers, payload, an empty line."""
    head = header_lines(_build_headers(reply.message))
    return (head + "\n" if head else "") + data_text(reply)


def data_text(reply: Reply) -> str:
    """Return payload, an empty line."""
    return body(reply.message.data) + "\n\n"


def record(reply: Reply) -> Json:
    """Return the reply as a dump has it, and its round-trip time."""
    return {**dump.record(reply.message, reply.number, time.time_ns()), "rtt": reply.rtt}


def _build_headers(message: Message) -> Headers:
    """Return the header lines, with a status such as `404 No Messages` first."""
    code, description = message.status
    status = [("Status", str(code)), ("Description", description)] if code else []
    return [*status, *message.headers]
