"""Templates in subjects, payloads and headers: `{{Count}}`, `{{Random 10 100}}`, in the words of the
`nats` tool (Go templates; these functions and quoted text are all that is taken)."""

import random
import re
import string
import time
from collections.abc import Callable
from typing import NamedTuple

from jsctl.errors import BadInput
from jsctl.units import format_kitchen, format_rfc3339_local

_LETTERS = string.ascii_letters + string.digits
_RANDOM = r"Random\b\s*\(?\s*([0-9]{1,10})\b\s*,?\s*([0-9]{1,10})\s*\)?"
_PART = 64 * 1024
_MOST = 64 * 1024 * 1024
"""Random bytes in all of a text: no server takes a larger message."""


class Moment(NamedTuple):
    """What templates can refer to. `request` is the payload that a reply answers."""

    number: int
    request: bytes = b""


Piece = Callable[[Moment], bytes]


class Template:
    """`render` gives the text of one message; `fixed` holds it when it is the same for all."""

    def __init__(self, pieces: list[bytes | Piece]) -> None:
        self._pieces = pieces
        self.fixed = b"".join(p for p in pieces if isinstance(p, bytes)) if self._is_fixed() else None

    def _is_fixed(self) -> bool:
        return all(isinstance(piece, bytes) for piece in self._pieces)

    def render(self, moment: Moment) -> bytes:
        if self.fixed is not None:
            return self.fixed
        return b"".join(p if isinstance(p, bytes) else p(moment) for p in self._pieces)


def compile_template(text: bytes, *, enabled: bool = True) -> Template:
    """Raises BadInput for a function that there is not, and for more random bytes than a message has."""
    if not enabled or b"{{" not in text:
        return Template([text])
    pieces: list[bytes | Piece] = []
    at, room = 0, _MOST
    # Not a pattern: braces and blanks that match nothing would be tried in every combination.
    while (start := text.find(b"{{", at)) >= 0 and (end := text.find(b"}}", start + 2)) >= 0:
        inner = text[start + 2 : end].removeprefix(b"-").removesuffix(b"-").strip()
        call = inner.decode(errors="replace")
        piece, size = _function(call)
        room -= size
        if room < 0:
            raise BadInput(f"{{{{{call}}}}} cannot be made", f"all random text has at most {_MOST:,} bytes")
        pieces += [text[at:start], piece]
        at = end + 2
    pieces.append(text[at:])
    return Template(pieces)


def _function(call: str) -> tuple[bytes | Piece, int]:
    """Returns what a call stands for, and the bytes that random text can have in it."""
    name = call.removeprefix(".")
    if name in _FUNCTIONS:
        return _FUNCTIONS[name], 0
    if match := re.fullmatch(_RANDOM, name):
        least, most = int(match[1]), int(match[2])
        if least > most or most > _MOST:
            raise BadInput(
                f"{{{{{call}}}}} cannot be made", f"Random MIN MAX takes two lengths, at most {_MOST:,}"
            )
        return (lambda _: random_text(random.randint(least, most))), most
    if len(call) >= 2 and call[0] == call[-1] and call[0] in '"`':
        return call[1:-1].encode(), 0
    shown = call if len(call) <= 40 else call[:37] + "..."  # any bytes may stand between braces
    raise BadInput(
        f"{{{{{shown}}}}} is not a template function",
        "there are Count, Time, TimeStamp, Unix, UnixNano, ID, Request, Random MIN MAX;"
        " --no-templates sends the text as it is",
    )


def random_text(length: int) -> bytes:
    """Letters and digits."""
    # In parts: a list of letters takes eight times as much memory as their text.
    parts = (min(_PART, length - at) for at in range(0, length, _PART))
    return b"".join("".join(random.choices(_LETTERS, k=part)).encode() for part in parts)


def unique_id() -> str:
    """22 letters and digits."""
    return random_text(22).decode()


def _timestamp(_: Moment) -> bytes:
    return format_rfc3339_local(time.time_ns()).encode()


def _kitchen(_: Moment) -> bytes:
    return format_kitchen(time.time_ns()).encode()


_FUNCTIONS: dict[str, Piece] = {
    "Count": lambda moment: b"%d" % moment.number,
    "Cnt": lambda moment: b"%d" % moment.number,
    "TimeStamp": _timestamp,
    "Time": _kitchen,
    "Unix": lambda _: b"%d" % time.time(),
    "UnixNano": lambda _: b"%d" % time.time_ns(),
    "ID": lambda _: unique_id().encode(),
    "Request": lambda moment: moment.request,
}
