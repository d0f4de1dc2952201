"""Requests that are answered: `reply`."""

import time

from jsctl.base.units import pluralize
from jsctl.jetstream.api import Json
from jsctl.jetstream.message import dump
from jsctl.jetstream.message.respond import Request, Responder
from jsctl.views.events import End, Ending, Events, Presentation
from jsctl.views.message.text import body, header_lines


def events(responder: Responder) -> Events[Request]:
    """Return the requests of a responder, each with its views, and their number at the end."""

    def summary(ending: Ending) -> str:
        if ending == "failed":
            return ""
        return f"Answered {pluralize(responder.answered, 'request')}"

    return Events(
        batches=responder.answer_requests(),
        shown=Presentation(text=text, record=record, notice=notice),
        end=End(limit=responder.limit, noun="request", endless=True, stop=responder.stop),
        answers=True,
        summary=summary,
    )


def notice(request: Request) -> str:
    """Return the line on stderr ahead of a request."""
    return f'[#{request.number}] Received on subject "{request.message.subject}":'


def text(request: Request) -> str:
    """Return headers, payload, an empty line."""
    head = header_lines(request.message.headers)
    return (head + "\n" if head else "") + body(request.message.data) + "\n\n"


def record(request: Request) -> Json:
    """Return the request as a dump has it."""
    return dump.record(request.message, request.number, time.time_ns())
