"""Messages as the protocol carries them: frames to publish, header blocks, the metadata of JetStream.

Bytes in and out, order and duplicates of headers kept; nats-py's own forms keep neither.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from jsctl.errors import BadInput

Headers = list[tuple[str, str]]

_LINE = b"NATS/1.0"
_KEY = r"[!-9;-~]+"  # printable ASCII without the colon (ADR-4)


class Meta(NamedTuple):
    """Where in a stream a message is. `time` is ns since the epoch; `pending` counts those after it."""

    stream: str
    consumer: str
    delivered: int
    sequence: int
    consumer_sequence: int
    time: int
    pending: int


class Item(NamedTuple):
    """A message as it came. `header` is the raw block, empty when there is none."""

    subject: str
    data: bytes
    reply: str = ""
    header: bytes = b""
    meta: Meta | None = None


def check_subject(subject: str, what: str = "publish to") -> str:
    """Raises BadInput for a subject that would break the protocol line."""
    if not subject or any(c.isspace() or c < " " for c in subject) or not all(subject.split(".")):
        raise BadInput(f"{subject!r} is no subject to {what}")
    if what == "publish to" and any(token in ("*", ">") for token in subject.split(".")):
        raise BadInput(f"{subject!r} holds a wildcard", "publish to a literal subject")
    return subject


def frame(subject: str, data: bytes, reply: str = "", header: bytes = b"") -> bytes:
    """PUB or HPUB for one message. The subject was checked before."""
    where = f"{subject} {reply}" if reply else subject
    if header:
        return b"HPUB %b %d %d\r\n%b%b\r\n" % (
            where.encode(), len(header), len(header) + len(data), header, data,
        )  # fmt: skip
    return b"PUB %b %d\r\n%b\r\n" % (where.encode(), len(data), data)


def header_block(pairs: Iterable[tuple[str, str]]) -> bytes:
    """The raw block of these headers; empty for none. Raises BadInput."""
    lines = []
    for key, value in pairs:
        if not re.fullmatch(_KEY, key):
            raise BadInput(f"{key!r} is no header name")
        if "\r" in value or "\n" in value:
            raise BadInput(f"the header {key} has more than one line")
        lines.append(f"{key}: {value}\r\n")
    return b"NATS/1.0\r\n%b\r\n" % "".join(lines).encode() if lines else b""


def header_pairs(block: bytes) -> Headers:
    """Names and values in their order, without the status line."""
    pairs = []
    for line in block.decode(errors="replace").split("\r\n")[1:]:
        key, colon, value = line.partition(":")
        if colon:
            pairs.append((key, value.strip()))
    return pairs


def header(block: bytes, name: str) -> str:
    """The last value of a header; what a server appends follows what was stored."""
    return next((value for key, value in reversed(header_pairs(block)) if key == name), "")


def status(block: bytes) -> tuple[int, str]:
    """Code and description of a status line such as `NATS/1.0 404 No Messages`; 0 when it has none."""
    words = block[len(_LINE) : block.find(b"\r\n")].decode(errors="replace").strip().split(" ", 1)
    code = int(words[0]) if words[0].isdigit() else 0
    return code, words[1] if code and len(words) > 1 else ""


def ack_meta(reply: str) -> Meta | None:
    """What a JetStream reply subject says: `$JS.ACK.<stream>.<consumer>.<delivered>.<sequence>.
    <consumer sequence>.<time>.<pending>`; with domain and account hash before the stream in the newer form
    (ADR-15)."""
    if not reply.startswith("$JS.ACK."):
        return None
    parts = reply.split(".")
    at = 2 if len(parts) == 9 else 4
    try:
        return Meta(
            parts[at], parts[at + 1], int(parts[at + 2]), int(parts[at + 3]), int(parts[at + 4]),
            int(parts[at + 5]), int(parts[at + 6]),
        )  # fmt: skip
    except (ValueError, IndexError):
        return None


def matches(pattern: str, subject: str) -> bool:
    """Whether a subscription to `pattern` gets `subject`."""
    wanted, have = pattern.split("."), subject.split(".")
    for at, token in enumerate(wanted):
        if token == ">":
            return len(have) > at
        if at >= len(have) or (token not in ("*", have[at])):
            return False
    return len(wanted) == len(have)
