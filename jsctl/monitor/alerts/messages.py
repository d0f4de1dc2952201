"""The messages about alerts to people and programs. No I/O."""

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from jsctl.base.units import format_exact_duration, format_rfc3339, truncate_to_seconds
from jsctl.jetstream.api import Json
from jsctl.monitor.alerts.machine import IDENTITY, Event
from jsctl.monitor.alerts.rules import Receiver
from jsctl.monitor.alerts.store import Message


def encode_event(event: Event) -> Json:
    """Return an event as JSON: `{"at", "alert", "state", "was", "since", "row", "context", "domain", "kind",
    "stream", ..., "values", "why", "silenced", "severity", "about", "to"}`."""
    return {
        "at": format_rfc3339(event.at),
        "alert": event.rule.name,
        "state": event.state,
        "was": event.was or None,
        "since": format_rfc3339(event.since),
        "row": event.name,
        **{name: event.facts.get(name) for name in IDENTITY},
        "values": {name: value for name, value in event.facts.items() if name not in IDENTITY},
        "why": event.why or None,
        "silenced": event.is_silenced,
        "severity": event.rule.severity or None,
        "about": event.rule.about or None,
        "to": list(event.to),
    }


def format_event(event: Event) -> str:
    """Return an event as a line: `late fires: east: consumer ORDERS > C (lag 120), for 2s`."""
    verbs = {"pending": "pends", "firing": "fires", "no data": "has no data", "resolved": "is resolved"}
    words = f"{event.rule.name} {verbs[event.state]}: {event.name}"
    details = [event.why] if event.why else []
    details += format_values(event.facts)
    words += f" ({', '.join(details)})" if details else ""
    if span := truncate_to_seconds(event.at - event.since):
        words += f", for {format_exact_duration(span)}"
    words += f"; {event.rule.about}" if event.rule.about and event.state == "firing" else ""
    return words + (" [silenced]" if event.is_silenced else "")


def format_values(facts: Mapping[str, Any]) -> list[str]:
    """Return the values that a condition looked at, such as `lag 120`."""
    return [f"{name} {_format_value(name, value)}" for name, value in facts.items() if name not in IDENTITY]


def _format_value(name: str, value: Any) -> str:
    if name in ("drains_in", "fills_in") or name.endswith("_ns"):
        is_span = isinstance(value, int)
        return format_exact_duration(truncate_to_seconds(value)) if is_span else "unknown or never"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    return (
        f"{value:,.10g}"
        if isinstance(value, float)
        else f"{value:,}"
        if isinstance(value, int)
        else str(value)
    )


def build_messages(receiver: Receiver, events: Sequence[Event]) -> Iterator[Message]:
    """Yield what one receiver is told of a round, a message for the events that share the values of `by`."""
    groups: dict[tuple[str, ...], list[Event]] = {}
    for event in events:
        if receiver.name in event.to:
            labels = build_labels(event)
            groups.setdefault(tuple(labels.get(key, "") for key in receiver.by), []).append(event)
    for group in groups.values():
        id = _digest(json.dumps([receiver.name, *((event.key, event.at, event.state) for event in group)]))
        yield Message(receiver.name, id, build_payload(receiver, group, id))


def build_labels(event: Event) -> dict[str, str]:
    """Return what identifies an event, as texts."""
    names = {name: str(event.facts[name]) for name in IDENTITY if event.facts.get(name)}
    severity = {"severity": event.rule.severity} if event.rule.severity else {}
    return {"alert": event.rule.name, **names, **severity}


def build_payload(receiver: Receiver, events: Sequence[Event], id: str = "") -> Json:
    """Return the JSON of a message in the form that the receiver takes. id: of the message."""
    texts = [format_event(event) for event in events]
    if receiver.form == "slack":  # https://api.slack.com/messaging/webhooks
        return {"text": escape("\n".join(texts), quote=False)}  # <!channel> would call all
    if receiver.form == "alertmanager":
        return _build_alertmanager_payload(receiver, events)
    return {"id": id, "text": "\n".join(texts), "events": [encode_event(event) for event in events]}


def _build_alertmanager_payload(receiver: Receiver, events: Sequence[Event]) -> Json:
    """Return what Alertmanager posts to its webhook receivers, version 4: labels of alerts name the rule
    `alertname`, and what has no data fires."""
    alerts: list[Json] = []
    for event in events:
        labels = build_labels(event)
        labels = {"alertname": labels.pop("alert"), **labels, "row": event.name}
        if event.facts.get("kind") == "place":
            labels["state"] = "no data"
        ended = event.state == "resolved"
        alerts.append(
            {
                "status": "resolved" if ended else "firing",
                "labels": labels,
                "annotations": {"summary": format_event(event), "description": event.rule.about},
                "startsAt": format_rfc3339(event.since),
                "endsAt": format_rfc3339(event.at) if ended else "0001-01-01T00:00:00Z",
                "generatorURL": "",
                "fingerprint": _digest(event.key),
            }
        )
    common = dict(set.intersection(*(set(alert["labels"].items()) for alert in alerts)))
    group = {
        ("alertname" if key == "alert" else key): build_labels(events[0]).get(key, "") for key in receiver.by
    }
    return {
        "version": "4",
        "groupKey": "/".join(f"{key}={value}" for key, value in group.items()),
        "truncatedAlerts": 0,
        "status": "resolved" if all(alert["status"] == "resolved" for alert in alerts) else "firing",
        "receiver": receiver.name,
        "groupLabels": group,
        "commonLabels": dict(sorted(common.items())),
        "commonAnnotations": {},
        "externalURL": "",
        "alerts": alerts,
    }


def _digest(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()[:16]
