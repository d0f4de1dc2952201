"""Values of keys as people see them, and in JSON."""

import base64
from typing import Any

from jsctl.jetstream.kv.entry import PUT, Entry, record
from jsctl.jetstream.message.payload import as_text
from jsctl.views.result import Cell

_MAX_SHOWN = 33  #: characters of a value in a table


def value_fields(value: bytes) -> dict[str, Any]:
    """Return `{"value": text}`, or `{"value_base64": ...}` for bytes that are not UTF-8."""
    try:
        return {"value": value.decode()}
    except UnicodeDecodeError:
        return {"value_base64": base64.b64encode(value).decode()}


def full_record(bucket: str, entry: Entry) -> dict[str, Any]:
    """Return the JSON object of an entry with its value."""
    return record(bucket, entry, value=value_fields(entry.value))


def short_value(entry: Entry, limit: int = _MAX_SHOWN) -> Cell | str:
    """Return a value for a table: its start and end; of a binary one the first bytes in hex."""
    value = entry.value
    if entry.operation != PUT:
        return Cell(None, "")
    if value.isascii() and (text := value.decode()).isprintable():  # nearly always
        return text if len(text) <= limit else Cell(text, _cut(text, limit))
    return Cell(next(iter(value_fields(value).values())), shorten(value, limit))


def shorten(value: bytes, limit: int = _MAX_SHOWN) -> str:
    """Return a value on one line of at most `limit` characters."""
    text = as_text(value)
    if text is None:
        start = value[: limit // 3].hex(" ")
        return f"{start} …" if len(value) > limit // 3 else start
    return text if len(text) <= limit else _cut(text, limit)


def _cut(text: str, limit: int) -> str:
    half = (limit - 3) // 2
    return f"{text[:half]}...{text[-half:]}"
