"""Messages as conditions and people see them: decoded, chosen by `--match`, cut to `--fields`.

The names of a condition are the payload's fields, but for those of the message itself: see `OWN_NAMES`.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from jsctl.base.json_text import encode_json
from jsctl.base.units import pluralize
from jsctl.jetstream.find.expression import Condition
from jsctl.nats.message import Message
from jsctl.schema.payloads.decoder import PayloadDecoder

OWN_NAMES: dict[str, Callable[[Message], str | int | dict[str, str] | None]] = {
    "subject": lambda message: message.subject,
    "headers": lambda message: dict(message.headers),
    "sequence": lambda message: message.sequence,
    "time": lambda message: message.timestamp,
    "stream": lambda message: message.metadata.stream if message.metadata else "",
    "size": lambda message: len(message.data),
    "text": lambda message: message.data.decode(errors="replace"),
}
"""The names of a condition that are not fields of the payload; `payload` is all of it, decoded."""

_PAYLOAD = "payload"
E = TypeVar("E")


class Decoded(NamedTuple):
    """What a reader made of a payload.

    value: as JSON has it; bytes if it was only decompressed, or is text. reason: why it could not be decoded;
    empty if it could. is_shown: whether it is shown in place of the payload.
    """

    value: Any = None
    reason: str = ""
    is_shown: bool = False

    @property
    def data(self) -> bytes:
        """The value as bytes: JSON on one line, or what was decompressed."""
        return self.value if isinstance(self.value, bytes) else encode_json(self.value).encode()


class _Names(dict[str, Any]):
    """The names of one message; those of its own are found when a condition asks for them.

    fields: its decoded payload.
    """

    message = Message("")
    fields: Any = None

    def __missing__(self, name: str) -> Any:
        if own := OWN_NAMES.get(name):
            value = self[name] = own(self.message)
            return value
        fields = self.fields
        return fields if name == _PAYLOAD else fields.get(name) if isinstance(fields, dict) else None


class Reader:
    """Decodes messages, chooses them, and counts those for which it could not.

    decoder: how payloads are decoded. shows: whether they are shown decoded. condition: which messages are
    read; None for all. fields: paths in the payload to which it is cut, such as `a`, `b.c` and `d[0].e`; none
    for all.
    """

    def __init__(
        self,
        decoder: PayloadDecoder,
        *,
        shows: bool = True,
        condition: Condition | None = None,
        fields: Sequence[str] = (),
    ) -> None:
        self._decoder = decoder
        self._shows = shows
        self._condition = condition
        self._fields = [(path, re.sub(r"\[(\d+)\]", r".\1", path).split(".")) for path in fields]
        self._absent = set(fields)  #: those of which no payload had a value so far
        asked = condition.names if condition is not None else frozenset[str]()
        self._unseen = set(asked - OWN_NAMES.keys() - {_PAYLOAD})  #: fields that no payload had so far
        self._needs_payload = bool(asked - OWN_NAMES.keys())
        self._decodes = shows or self._needs_payload
        self._undecoded = self._unchecked = 0
        self._first_undecoded = self._first_unchecked = ""
        self._has_seen_any = self._has_cut_any = False
        self._names = _Names()
        self._literal = _find_literal(condition.text if condition and not self._decodes else "")
        self.can_wait = decoder.can_wait and self._decodes
        self.chooses = condition is not None

    def narrow(self, events: Sequence[E], find: Callable[[E], Message | None]) -> Sequence[E]:
        """Return those events whose messages contain the text that the condition looks for, which takes a
        twentieth of its time; all of them if it does not say enough. find: the message of an event."""
        name, text = self._literal
        if not name:
            return events
        needle: Any = text if name == "subject" else text.encode(errors="surrogateescape")
        attribute = {"headers": "header_block", "text": "data"}.get(name, name)
        none = needle[:0]
        parts = [getattr(message, attribute, none) for message in map(find, events)]
        if needle not in none.join(parts):  # as for most events
            return []
        return [event for event, part in zip(events, parts, strict=True) if needle in part]

    def read(self, message: Message) -> Decoded | None:
        """Return what is shown of a message; None for one that does not match.

        Raises what `SchemaRegistry.fetch` and missing libraries raise.
        """
        value: Any = None
        reason, condition = "", self._condition
        if self._decodes:
            try:
                value = self._decoder.decode(message.data)
            except ValueError as error:
                reason = str(error)
                self._undecoded += 1
                self._first_undecoded = self._first_undecoded or _name_message(message, reason)
        if condition is not None:
            if reason and self._needs_payload:
                return None
            if self._unseen and isinstance(value, dict):
                self._unseen -= value.keys()
                self._has_seen_any = True
            names = self._names  # used again: making them takes as long as many a condition
            names.clear()
            names.message, names.fields = message, value
            try:
                if not condition(names):
                    return None
            except ValueError as error:
                self._unchecked += 1
                self._first_unchecked = self._first_unchecked or _name_message(message, str(error))
                return None
        if self._fields and not reason and isinstance(value, dict):
            value = {path: _find(value, steps) for path, steps in self._fields}
            self._has_cut_any = True
            if self._absent:
                self._absent -= {path for path, found in value.items() if found is not None}
        return Decoded(value, reason, self._shows)

    def summarize(self) -> str:
        """Return lines about messages that could not be decoded or checked; empty for none."""
        lines = []
        if self._undecoded:
            kinds, count = ",".join(self._decoder.kinds), pluralize(self._undecoded, "message")
            lines.append(
                f"jsctl: {count} could not be decoded as {kinds}; the first: {self._first_undecoded}"
            )
        if self._unchecked:
            count = pluralize(self._unchecked, "message")
            lines.append(
                f"jsctl: {count} could not be compared by --match; the first: {self._first_unchecked}"
            )
        if self._has_seen_any and self._unseen:
            lines.append(f"jsctl: no payload has {', '.join(sorted(self._unseen))}, which --match names")
        if self._has_cut_any and self._absent:
            lines.append(f"jsctl: no payload has {', '.join(sorted(self._absent))}, which --fields names")
        return "\n".join(lines)


def _find_literal(condition: str) -> tuple[str, str]:
    """Return the name that a valid condition compares with a text first, and the text, without which nothing
    that follows can make it hold; empty for none."""
    match = re.match(_COMPARED, condition)
    if match is None or re.search(r"\bor\b|\|\|", condition):
        return "", ""
    return match[1] or "headers", match[2] or match[3]


_COMPARED = (
    r"\s*(?:(subject|text)|headers(?:\.\w+|\[(?:'[^'\\]*'|\"[^\"\\]*\")\]))\s*"
    r"(?:==|\b(?:contains|startsWith|endsWith)\b)\s*"
    r"(?:'([^'\\\ufffd]+)'|\"([^\"\\\ufffd]+)\")\s*(?:and\b|&&|$)"
)
"""The beginning of a condition that compares a text; what is not UTF-8 is decoded to U+FFFD."""


def _name_message(message: Message, reason: str) -> str:
    name = f"{message.subject} #{message.sequence}" if message.sequence else message.subject
    return f"{name}: {reason}" if name else reason


def _find(value: Any, steps: Sequence[str]) -> Any:
    """Return what is at a path; None for nothing. A step is a key, or an index of a list."""
    for step in steps:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value
