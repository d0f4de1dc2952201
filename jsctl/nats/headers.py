"""Header blocks: the raw bytes that precede a message's data, and the name/value pairs in them (ADR-4).

A block keeps the order and the duplicates of its headers. A received status is part of the block's first
line: `NATS/1.0 404 No Messages`.
"""

import re
from collections.abc import Iterable

from jsctl.errors import BadInput

Headers = list[tuple[str, str]]
"""Names and values, in their order, duplicates included. Bytes of values that are not UTF-8 are surrogates,
as in Python's arguments and paths: parsed and encoded again, they are the same bytes."""

VERSION = b"NATS/1.0"

_BYTES = "surrogateescape"
_NAME = r"[!-9;-~]+"  # printable ASCII without the colon


def encode_headers(headers: Iterable[tuple[str, str | bytes]]) -> bytes:
    """Encode headers as a block; empty bytes when there are none.

    Raises BadInput for a name or a value that would break the block.
    """
    lines = []
    for name, value in headers:
        if not re.fullmatch(_NAME, name):
            raise BadInput(f"{name!r} is not a valid header name", "use printable ASCII without a colon")
        raw = value.encode(errors=_BYTES) if isinstance(value, str) else value
        if b"\r" in raw or b"\n" in raw:
            raise BadInput(f"the value of header {name} has more than one line")
        lines.append(b"%b: %b\r\n" % (name.encode(), raw))
    return b"%b\r\n%b\r\n" % (VERSION, b"".join(lines)) if lines else b""


def parse_headers(block: bytes, errors: str = _BYTES) -> Headers:
    """Parse a header block into names and values, without its status. errors: how bytes that are not UTF-8
    are decoded."""
    text = block.decode(errors=errors)
    parts = [line.partition(":") for line in text.split("\r\n")[1:]]
    headers = [(name, value.strip()) for name, colon, value in parts if colon]
    if text.isascii():
        return headers
    # No client can send a name again that is not ASCII.
    return [(name.encode(errors=_BYTES).decode(errors="replace"), value) for name, value in headers]


def find_header(block: bytes, name: str) -> str:
    """Return the last value of a header, empty when it is missing. Headers that a server adds come last."""
    return next((value for key, value in reversed(parse_headers(block, "replace")) if key == name), "")


def parse_status(block: bytes) -> tuple[int, str]:
    """Parse the code and the description of a block's status; the code is 0 when there is no status."""
    words = block[len(VERSION) : block.find(b"\r\n")].decode(errors="replace").strip().split(" ", 1)
    code = int(words[0]) if re.fullmatch(r"[0-9]{3}", words[0]) else 0
    return code, words[1] if code and len(words) > 1 else ""


def parse_header_text(text: str, form: str = "K:V") -> tuple[str, str]:
    """Return the name and value of a header that a user writes as `name: value`. form: for the error.

    Raises BadInput.
    """
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise BadInput(f"{text!r} is not a valid header", f"use {form}")
    return name.strip(), value.strip()
