"""Templates in subjects, payloads and headers: `{{Count}}`, `{{Random 10 100}}`, in the words of the
`nats` tool (Go templates, of which these functions and quoted text are supported)."""

import re
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

from jsctl.base.units import format_kitchen, format_rfc3339_local
from jsctl.errors import BadInput

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_RANDOM = r"Random\b\s*\(?\s*([0-9]{1,40})\b\s*,?\s*([0-9]{1,40})\s*\)?"
_CHUNK = 64 * 1024
_MAX_RANDOM = 64 * 1024 * 1024
"""Maximum number of random bytes in a text: no server accepts a larger message."""
_MAX_NAMED = 5  #: unknown functions that a warning names
_FUNCTIONS_HINT = "there are Count, Time, TimeStamp, Unix, UnixNano, ID, Request, Random MIN MAX"


class Moment(NamedTuple):
    """The values that templates can refer to. request: the payload that a reply answers. tokens: those of
    that request's subject."""

    number: int
    request: bytes = b""
    tokens: tuple[str, ...] = ()


Piece = Callable[[Moment], bytes]


class Template:
    """A compiled text. fixed: the text when it is the same for all messages, else None. unknown: the calls in
    braces that name no function and are kept as text."""

    def __init__(self, pieces: list[bytes | Piece], unknown: tuple[str, ...] = ()) -> None:
        self._pieces = pieces
        self.unknown = unknown
        texts = [piece for piece in pieces if isinstance(piece, bytes)]
        self.fixed = b"".join(texts) if len(texts) == len(pieces) else None

    def render(self, moment: Moment) -> bytes:
        """Return the text of one message."""
        if self.fixed is not None:
            return self.fixed
        return b"".join(p if isinstance(p, bytes) else p(moment) for p in self._pieces)


def compile_template(text: bytes, *, enabled: bool = True, with_tokens: bool = False) -> Template:
    """Compile a text; braces with an unknown function are kept as text.

    with_tokens: whether `{{0}}`, `{{1}}` ... stand for tokens of a request's subject. Raises BadInput for a
    function with arguments that it cannot take, and for more random bytes than a message has.
    """
    if not enabled or b"{{" not in text:
        return Template([text])
    pieces: list[bytes | Piece] = []
    unknown: list[str] = []
    at, bytes_left = 0, _MAX_RANDOM
    # A regular expression would try unmatched braces and blanks in every combination.
    while (start := text.find(b"{{", at)) >= 0 and (end := text.find(b"}}", start + 2)) >= 0:
        placeholder = text[start : end + 2]
        call = placeholder[2:-2].removeprefix(b"-").removesuffix(b"-").strip().decode(errors="replace")
        piece, size = (
            (_build_token_piece(int(call)), 0) if with_tokens and _is_number(call) else _parse_function(call)
        )
        bytes_left -= size
        if bytes_left < 0:
            raise BadInput(
                f"{{{{{call}}}}} cannot be filled in",
                f"use at most {_MAX_RANDOM:,} bytes of random text in total",
            )
        pieces += [text[at:start], placeholder if piece is None else piece]
        if piece is None:  # GO_TEMPLATES
            unknown.append(_shorten(call))
        at = end + 2
    pieces.append(text[at:])
    return Template(pieces, tuple(dict.fromkeys(unknown)))


def warn_of_unknown_functions(templates: Iterable[Template]) -> str:
    """Return a warning about unknown functions, which are sent as text; empty when there are none."""
    unknown = list(dict.fromkeys(call for template in templates for call in template.unknown))
    if not unknown:
        return ""
    calls = ", ".join(f"{{{{{call}}}}}" for call in unknown[:_MAX_NAMED]) + (
        ", ..." if unknown[_MAX_NAMED:] else ""
    )
    functions = "functions" if len(unknown) > 1 else "function"
    return f"jsctl: {calls}: no template {functions} of that name, sent as it is; {_FUNCTIONS_HINT}"


def _shorten(call: str) -> str:
    return call if len(call) <= 40 else call[:37] + "..."  # anything may stand between braces


def _is_number(call: str) -> bool:
    return call.isascii() and call.isdigit() and len(call) <= 3


def _build_token_piece(number: int) -> Piece:
    return lambda moment: moment.tokens[number].encode() if number < len(moment.tokens) else b""


def _parse_function(call: str) -> tuple[bytes | Piece | None, int]:
    """Return what renders a call, None when there is no such function, and the maximum size of its random
    text in bytes. Raises BadInput for arguments that it cannot take."""
    name = call.removeprefix(".")
    if name in _FUNCTIONS:
        return _FUNCTIONS[name], 0
    if match := re.fullmatch(_RANDOM, name):
        shortest, longest = int(match[1]), int(match[2])
        if shortest > longest or longest > _MAX_RANDOM:
            raise BadInput(
                f"{{{{{call}}}}} cannot be filled in",
                f"Random MIN MAX takes two lengths, at most {_MAX_RANDOM:,}",
            )
        import random

        return (lambda _: generate_text(random.randint(shortest, longest))), longest
    if len(call) >= 2 and call[0] == call[-1] and call[0] in '"`':
        return call[1:-1].encode(), 0
    return None, 0


def generate_text(length: int) -> bytes:
    """Return `length` random letters and digits."""
    import random

    # In parts: a list of letters takes eight times as much memory as their text.
    parts = (min(_CHUNK, length - at) for at in range(0, length, _CHUNK))
    return b"".join("".join(random.choices(_LETTERS, k=part)).encode() for part in parts)


def generate_id() -> str:
    """Return 22 random letters and digits."""
    return generate_text(22).decode()


_FUNCTIONS: dict[str, Piece] = {
    "Count": lambda moment: b"%d" % moment.number,
    "Cnt": lambda moment: b"%d" % moment.number,
    "TimeStamp": lambda _: format_rfc3339_local(time.time_ns()).encode(),
    "Time": lambda _: format_kitchen(time.time_ns()).encode(),
    "Unix": lambda _: b"%d" % time.time(),
    "UnixNano": lambda _: b"%d" % time.time_ns(),
    "ID": lambda _: generate_id().encode(),
    "Request": lambda moment: moment.request,
}
