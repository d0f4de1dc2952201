"""Payloads and headers for people and for JSON: text as text, the rest as hex or base64.

One rule for bytes in JSON, CSV and TSV: those that are UTF-8 are text under their name; all others are
unbroken base64 under their name and `_base64`, headers under their name in `headers_base64`.
"""

import re
from binascii import a2b_base64, b2a_base64  # importing base64 takes 0.6 ms
from collections.abc import Iterable, Mapping
from typing import Any

from jsctl.base.command_lines import PLAIN
from jsctl.nats.headers import Headers

_MAX_SHOWN = 256  #: bytes of a binary payload that are shown to people

# Text may contain tabs, line ends and escapes (which are made visible before a terminal sees them).
_BINARY = "[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\ufffe\uffff]"


def as_text(data: bytes) -> str | None:
    """Decode bytes as text; None when they are binary."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return None if _is_binary(text) else text


def _is_binary(text: str) -> bool:
    return not text.isprintable() and re.search(_BINARY, text) is not None


def format_payload(data: bytes) -> str:
    """Format data for people: text, or the first bytes as a hex dump. Not yet cleaned for a terminal."""
    if data.isascii() and not data.translate(None, PLAIN):  # nearly always
        return str(data, "ascii")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return _format_hex_dump(data)
    return _format_hex_dump(data) if _is_binary(text) else text.replace("\r\n", "\n")


def _format_hex_dump(data: bytes) -> str:
    lines = [_format_dump_line(at, data[at : at + 16]) for at in range(0, min(len(data), _MAX_SHOWN), 16)]
    if len(data) > _MAX_SHOWN:
        lines.append(f"… {len(data) - _MAX_SHOWN:,} bytes more; --raw or --json shows all")
    return "\n".join(lines)


def _format_dump_line(at: int, piece: bytes) -> str:
    letters = "".join(chr(b) if 32 <= b < 127 else "." for b in piece)
    return f"{at:08x}  {piece.hex(' '):<47}  {letters}"


def encode_field(name: str, data: bytes) -> dict[str, str]:
    """Return `{name: text}`, or `{name_base64: ...}` for bytes that are not UTF-8."""
    try:
        return {name: data.decode()}
    except UnicodeDecodeError:
        return {name_of_base64(name): b2a_base64(data, newline=False).decode()}


def name_of_base64(name: str) -> str:
    """Return the name under which bytes are base64."""
    return f"{name}_base64"


def encode_headers_field(pairs: Iterable[tuple[str, str]], name: str = "headers") -> dict[str, Any]:
    """Return `{headers: {...}}` with the values of each header, in their order. If one of them is not UTF-8,
    they are in `{headers_base64: {...}}` instead.
    """
    values_by_name: dict[str, list[str]] = {}
    for key, value in pairs:
        values_by_name.setdefault(key, []).append(value)
    fields: dict[str, Any] = {name: values_by_name}
    for key, values in list(values_by_name.items()):
        if any(map(_is_escaped, values)):
            encoded = (value.encode(errors="surrogateescape") for value in values)
            texts = [b2a_base64(value, newline=False).decode() for value in encoded]
            fields.setdefault(name_of_base64(name), {})[key] = texts
            del values_by_name[key]
    return fields


def _is_escaped(text: str) -> bool:
    """Return whether a header's value has bytes that are not UTF-8."""
    return not text.isascii() and re.search("[\udc80-\udcff]", text) is not None


def decode_headers_field(record: Mapping[str, Any], name: str = "headers") -> Headers:
    """Parse headers from JSON: `{"name": "value"}` or `{"name": ["value", ...]}`, and those in base64.

    Raises TypeError, AttributeError, binascii.Error.
    """
    encoded = record.get(name_of_base64(name)) or {}
    pairs: Headers = []
    for key, values in (record.get(name) or {}).items():
        if key not in encoded:
            pairs.extend((key, str(v)) for v in (values if isinstance(values, list) else [values]))
    for key, values in encoded.items():
        decoded = (a2b_base64(value, strict_mode=True) for value in values)
        pairs.extend((key, value.decode(errors="surrogateescape")) for value in decoded)
    return pairs
