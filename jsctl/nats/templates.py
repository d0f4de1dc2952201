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
_HOLE = rb"\{\{-?\s*(.*?)\s*-?\}\}"
_RANDOM = r"Random\s*\(?\s*(\d+)\s*[\s,]\s*(\d+)\s*\)?"
_LONGEST = 64 * 1024 * 1024


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
    """Raises BadInput for a function that there is not."""
    if not enabled or b"{{" not in text:
        return Template([text])
    pieces: list[bytes | Piece] = []
    at = 0
    for hole in re.finditer(_HOLE, text, re.DOTALL):
        pieces += [text[at : hole.start()], _function(hole[1].decode(errors="replace"))]
        at = hole.end()
    pieces.append(text[at:])
    return Template(pieces)


def _function(call: str) -> bytes | Piece:
    name = call.removeprefix(".")
    if name in _FUNCTIONS:
        return _FUNCTIONS[name]
    if match := re.fullmatch(_RANDOM, name):
        least, most = int(match[1]), int(match[2])
        if least > most or most > _LONGEST:
            raise BadInput(f"{{{{{call}}}}} cannot be made", "Random MIN MAX takes two lengths")
        return lambda _: random_text(random.randint(least, most))
    if len(call) >= 2 and call[0] == call[-1] and call[0] in '"`':
        return call[1:-1].encode()
    shown = call if len(call) <= 40 else call[:37] + "..."  # any bytes may stand between braces
    raise BadInput(
        f"{{{{{shown}}}}} is not a template function",
        "there are Count, Time, TimeStamp, Unix, UnixNano, ID, Request, Random MIN MAX;"
        " --no-templates sends the text as it is",
    )


def random_text(length: int) -> bytes:
    """Letters and digits."""
    return "".join(random.choices(_LETTERS, k=length)).encode()


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
