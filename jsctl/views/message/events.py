"""Events of servers and of JetStream: `events`, `consumer events`. The text is not cleaned yet."""

import contextlib
import json
import re
from typing import Any

from jsctl.base import units
from jsctl.base.json_text import parse_json
from jsctl.base.units import pluralize
from jsctl.errors import ExitStatus
from jsctl.jetstream.api import Json
from jsctl.jetstream.message import payload
from jsctl.monitor import events as domain
from jsctl.monitor.event_listener import EventListener, ServerEvent
from jsctl.monitor.events import Kind
from jsctl.views.events import End, Events, Presentation

_REFUSED = Kind(
    "Client Authentication Error",
    "{client.user} {client.name} at {server.name}: {reason}",
    domain.KINDS["io.nats.server.advisory.v1.client_disconnect"].fields,
)


def events(listener: EventListener, *, short: bool = False, cloudevent: bool = False) -> Events[ServerEvent]:
    """Return the events of a listener, each with its views."""
    text = short_text if short else full_text

    def show(event: ServerEvent) -> str:
        if event.document is None:
            return unreadable(event.subject, payload.format_payload(event.data))
        return text(event.document, event.subject)

    def record(event: ServerEvent) -> Json | None:
        if event.document is None or not cloudevent:
            return event.document
        return domain.build_cloud_event(event.document, domain.find_kind(event.document, event.subject))

    return Events(
        batches=listener.batches(),
        shown=Presentation(text=show, record=record, folds="all", as_json=cloudevent),
        end=End(
            limit=listener.selection.limit,
            counts=lambda event: event.document is not None,
            noun="event",
            endless=True,
            stop=listener.stop,
        ),
        summary=lambda ending: _build_summary(listener) if ending == "complete" else "",
        result=lambda: ExitStatus.NOT_FOUND if listener.missing else ExitStatus.OK,
    )


def _build_summary(listener: EventListener) -> str:
    """Return a line about the events that --count asked for and that did not arrive in time."""
    limit = listener.selection.limit
    if not listener.missing:
        return ""
    received, events = units.format_count(limit - listener.missing), pluralize(limit, "event")
    waited = units.format_exact_duration(listener.selection.idle)
    return f"jsctl: {received} of {events}; no more arrived in {waited}"


def short_text(event: Json, subject: str) -> str:
    """Return one line: `06:57:05 [Stream Action] stream ORDERS create`."""
    kind = _find_kind(event, subject)
    if kind is None:
        document = json.dumps(event, ensure_ascii=False)
        return f"{_format_event_time(event)[11:]} [{event.get('type') or subject}] {document}\n"
    words = re.sub(r"\{([\w.]+)\}", lambda m: _format_event_value(event, m[1]) or "?", kind.summary)
    where = f" (domain {event['domain']})" if event.get("domain") else ""
    return f"{_format_event_time(event)[11:]} [{kind.title}] {words}{where}\n"


def full_text(event: Json, subject: str) -> str:
    """Return a heading with time and id, and the fields below it."""
    kind = _find_kind(event, subject)
    head = f"[{_format_event_time(event)}] [{event.get('id', '')}] "
    if kind is None:
        document = json.dumps(event, indent=2, ensure_ascii=False)
        return f"{head}{event.get('type') or subject}\n\n{_indent(document)}\n\n"
    rows = [(label, _format_event_value(event, path)) for label, path in kind.fields]
    if event.get("domain"):
        rows.append(("Domain", str(event["domain"])))
    pairs = [(label, value) for label, value in rows if value]
    width = max((len(label) for label, _ in pairs), default=0) + 4
    lines = [f"{label:>{width}}: {_indent_value(value, width + 2)}" for label, value in pairs]
    return "\n".join([f"{head}{kind.title}", "", *lines, "", ""])


def unreadable(subject: str, shown: str) -> str:
    """Return what is shown of a message that is not an event."""
    return f"Event error: the message on {subject} is not an event\n\n{_indent(shown)}\n\n"


def _find_kind(event: Json, subject: str) -> Kind | None:
    name = domain.find_kind(event, subject)
    return _REFUSED if name == "auth_error" else domain.KINDS.get(name)


def _format_event_time(event: Json) -> str:
    try:
        return units.format_time(str(event.get("timestamp", "")))
    except ValueError:
        return str(event.get("timestamp", ""))


def _format_event_value(event: Json, path: str) -> str:
    value: Any = domain.get_value(event, path)
    if value is None or value == "":
        return ""
    if path in domain.DURATIONS and isinstance(value, int):
        return units.format_exact_duration(value)
    if path == "replicas" and isinstance(value, list):
        return "\n".join(_format_peer(peer) for peer in value if isinstance(peer, dict))
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return units.format_count(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _format_peer(peer: Json) -> str:
    state = "current" if peer.get("current") else "outdated"
    if peer.get("offline"):
        state += ", OFFLINE"
    active = int(peer.get("active") or 0)
    return f"{peer.get('name', '')} {state}" + (
        f", seen {units.format_duration(active)} ago" if active else ""
    )


def _indent_value(value: str, indent: int) -> str:
    """Return a value whose further lines are indented; JSON in a string is indented, too."""
    if value[:1] in "{[" and len(value) > 1:
        with contextlib.suppress(ValueError):
            value = json.dumps(parse_json(value), indent=2, ensure_ascii=False)
    return value.replace("\n", "\n" + " " * indent)


def _indent(text: str) -> str:
    return "\n".join(" " * 10 + line for line in text.splitlines())
