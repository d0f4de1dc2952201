"""Values of keys as people see them, and in JSON."""

from typing import Any

from jsctl.jetstream.kv.entry import PUT, Entry, record
from jsctl.jetstream.message.payload import as_text, encode_field
from jsctl.views.result import Cell

_MAX_SHOWN = 33  #: characters of a value in a table


def full_record(bucket: str, entry: Entry) -> dict[str, Any]:
    """Return the JSON object of an entry with its value."""
    return record(bucket, entry, value=encode_field("value", entry.value))


def short_value(entry: Entry) -> Cell | str:
    """Return a value for a table: its start and end; of a binary one the first bytes in hex."""
    value = entry.value
    if entry.operation != PUT:
        return Cell(None, "")
    if value.isascii() and (text := value.decode()).isprintable():  # nearly always
        return text if len(text) <= _MAX_SHOWN else Cell(text, _cut(text, _MAX_SHOWN))
    return Cell(value, shorten(value))


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
