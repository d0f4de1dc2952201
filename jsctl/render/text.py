"""Values and foreign text as people read them. All output to a terminal goes through here."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jsctl.base import units
from jsctl.base.command_lines import PLAIN, UNSAFE
from jsctl.views.result import Cell, Kind


def clean(text: str) -> str:
    """Return foreign text on one line, with controls escaped (ESC becomes `\\x1b`)."""
    if text.isprintable():  # the usual case, and ten times as fast
        return text
    return re.sub(UNSAFE, _escape_char, text)


def clean_lines(text: str) -> str:
    """Return foreign text that may have several lines, with controls escaped, except tabs and line ends."""
    if text.isascii() and not text.encode().translate(None, PLAIN):  # the usual case, and ten times as fast
        return text
    return re.sub(r"[^\n\t]+", lambda m: clean(m[0]), text)


def clean_json(document: str) -> str:
    """Return JSON text with the characters that `clean` escapes escaped as JSON does, except line ends."""
    if document.isascii() and "\x7f" not in document:  # the usual case
        return document
    return re.sub(UNSAFE, lambda m: m[0] if m[0] == "\n" else json.dumps(m[0])[1:-1], document)


def _escape_char(match: re.Match[str]) -> str:
    char = match[0]
    named = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(char)
    if named:
        return named
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8 (see `Headers`)
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def show(value: Any, kind: Kind) -> str:
    """Return the human form of a raw value; an empty text for None."""
    if isinstance(value, str) and kind != "time":
        return clean(value)
    if isinstance(value, Cell):
        return clean(value.shown)
    if value is None:
        return ""
    form = _FORMS.get(kind)
    return form(value) if form else clean(str(value))


def show_all(values: Sequence[Any], kind: Kind) -> list[str]:
    """Return the human forms of the values of a column, as `show` does for each, but five times as fast for
    long columns.
    """
    types = set(map(type, values))
    if types <= {str, Cell} and (kind != "time" or types == {Cell}):
        texts = [value.shown if type(value) is Cell else value for value in values]
        return texts if "".join(texts).isprintable() else list(map(clean, texts))
    if types == {int} and kind not in _FORMS:
        return list(map(str, values))
    if types <= {int, str} and len(distinct := set(values)) * 2 < len(values):
        forms = {value: show(value, kind) for value in distinct}
        return [forms[value] for value in values]
    return [show(value, kind) for value in values]


def _show_time(value: Any) -> str:
    if isinstance(value, str) and value and not units.read_known_time(value):
        return "never"
    try:
        return units.format_time(value)
    except ValueError:
        return clean(value)


def _show_rate(value: float) -> str:
    return f"{value:,.0f}/s" if abs(value) >= 10 or value == 0 else f"{value:,.1f}/s"


def _show_trend(values: Sequence[float | None]) -> str:
    from jsctl.render.plot import draw_sparkline

    return draw_sparkline(values, 12) if any(values) else ""


def _make_limit_form(form: Callable[[int], str]) -> Callable[[int], str]:
    return lambda value: "unlimited" if value <= 0 else form(value)


_FORMS: Mapping[str, Callable[[Any], str]] = {
    "count": units.format_count,
    "bytes": units.format_bytes,
    "duration": units.format_duration,
    "span": units.format_exact_duration,
    "ago": units.format_age,
    "limit": _make_limit_form(units.format_count),
    "bytes_limit": _make_limit_form(units.format_bytes),
    "span_limit": _make_limit_form(units.format_exact_duration),
    "time": _show_time,
    "bool": lambda value: "true" if value else "false",
    "percent": lambda value: f"{value * 100:.0f}%",
    "rate": _show_rate,
    "trend": _show_trend,
}
"""The human forms of values by kind; text and plain numbers have none."""


def measure(text: str) -> int:
    """Return how many terminal columns a cleaned text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
