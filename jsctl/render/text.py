"""Values and foreign text as people read them. Everything that reaches a terminal goes through here."""

import re
from typing import Any

from jsctl import units
from jsctl.views.result import Cell, Kind

# C0 and C1 controls, DEL, zero-width and bidirectional marks, line separators: what could move a
# cursor, hide text or reorder it.
_UNSAFE = "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"


def clean(text: str) -> str:
    """Return foreign text on one line, with controls escaped (ESC becomes `\\x1b`)."""
    if text.isprintable():  # nearly always, and ten times as fast
        return text
    return re.sub(_UNSAFE, _visible, text)


def clean_lines(text: str) -> str:
    """Return foreign text that may have several lines, with controls escaped; tabs and line ends stay."""
    if text.replace("\n", "").isprintable():
        return text
    return re.sub(r"[^\n\t]+", lambda m: clean(m[0]), text)


def clean_json(document: str) -> str:
    """Return JSON text with C1 controls and bidirectional marks escaped as JSON does."""
    return re.sub(
        "[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]",
        lambda m: f"\\u{ord(m[0]):04x}",
        document,
    )


def _visible(match: re.Match[str]) -> str:
    char = match[0]
    named = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(char)
    if named:
        return named
    return f"\\x{ord(char):02x}" if ord(char) < 256 else f"\\u{ord(char):04x}"


def show(value: Any, kind: Kind) -> str:
    """Return the human form of a raw value; None is an empty cell."""
    if isinstance(value, Cell):
        return clean(value.shown)
    if value is None:
        return ""
    if isinstance(value, str) and kind != "time":
        return clean(value)
    match kind:
        case "count":
            return units.format_count(value)
        case "bytes":
            return units.format_bytes(value)
        case "duration":
            return units.format_duration(value)
        case "span":
            return units.exact_duration(value)
        case "ago":
            return units.format_age(value)
        case "limit":
            return "unlimited" if value <= 0 else units.format_count(value)
        case "bytes_limit":
            return "unlimited" if value <= 0 else units.format_bytes(value)
        case "span_limit":
            return "unlimited" if value <= 0 else units.exact_duration(value)
        case "time":
            return _show_time(value)
        case "bool":
            return "true" if value else "false"
        case "percent":
            return f"{value * 100:.0f}%"
        case "rate":
            return f"{value:,.0f}/s" if abs(value) >= 10 or value == 0 else f"{value:,.1f}/s"
        case _:
            return clean(str(value))


def _show_time(value: Any) -> str:
    if isinstance(value, str) and value and not units.known_time(value):
        return "never"
    try:
        return units.format_time(value)
    except ValueError:
        return clean(value)


def cells(text: str) -> int:
    """Return how many terminal columns a cleaned text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
