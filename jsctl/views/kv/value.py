"""Values of keys as people see them, and in JSON."""

import base64
from typing import Any

from jsctl.jetstream.kv.entry import PUT, Entry, record
from jsctl.jetstream.message.payload import as_text
from jsctl.views.result import Cell

_SHOWN = 33  #: characters of a value in a table


def value_fields(value: bytes) -> dict[str, Any]:
    """`{"value": text}`, or `{"value_base64": ...}` for what is not UTF-8."""
    try:
        return {"value": value.decode()}
    except UnicodeDecodeError:
        return {"value_base64": base64.b64encode(value).decode()}


def full_record(bucket: str, entry: Entry) -> dict[str, Any]:
    """The JSON object of an entry with its value."""
    return record(bucket, entry, value=value_fields(entry.value))


def short_value(entry: Entry, most: int = _SHOWN) -> Cell | str:
    """A value in a table: its start and end, of binary ones the first bytes in hex."""
    value = entry.value
    if entry.operation != PUT:
        return Cell(None, "")
    if value.isascii() and (text := value.decode()).isprintable():  # nearly always
        return text if len(text) <= most else Cell(text, _cut(text, most))
    return Cell(next(iter(value_fields(value).values())), shorten(value, most))


def shorten(value: bytes, most: int = _SHOWN) -> str:
    """A value on one line of at most `most` characters."""
    text = as_text(value)
    if text is None:
        start = value[: most // 3].hex(" ")
        return f"{start} …" if len(value) > most // 3 else start
    return text if len(text) <= most else _cut(text, most)


def _cut(text: str, most: int) -> str:
    half = (most - 3) // 2
    return f"{text[:half]}...{text[-half:]}"
