"""JSON from outside: of servers, files and people. Everything in jsctl reads it here."""

import json
import sys
from collections.abc import Callable
from typing import Any

MAX_DEPTH = 100
"""Objects and lists within each other. What reads them later recurses, too."""

_TOO_DEEP = f"it is nested too deeply, at most {MAX_DEPTH} levels are valid"
_BRACKETS = b"[]{}"
_OTHERS = bytes(byte for byte in range(256) if byte not in _BRACKETS)


class TooDeep(ValueError):
    """Objects and lists are nested deeper than MAX_DEPTH."""


def parse_json(
    text: str | bytes,
    *,
    half_characters: bool = False,
    any_depth: bool = False,
    parse_float: Callable[[str], Any] | None = None,
) -> Any:
    """Parse JSON.

    half_characters: take half of a character as it is; a file of people's own may hold one. any_depth: for a
    caller that calls `check_depth` where values can be deep: all brackets take a fifth of the time.
    parse_float: makes a value of a number with a fraction or an exponent; a float without it.

    Raises ValueError for what is not JSON, is nested too deeply, has numbers that are not finite or have
    thousands of digits, or holds half a character.
    """
    try:
        value = json.loads(text, parse_constant=_refuse_constant, parse_float=parse_float)
    except RecursionError:
        raise TooDeep(_TOO_DEEP) from None
    except ValueError as error:
        if "integer string conversion" in str(error):  # Python's words are about Python
            raise ValueError(
                f"it has a number of more than {sys.get_int_max_str_digits():,} digits"
            ) from None
        raise
    raw = text if isinstance(text, bytes) else text.encode(errors="surrogatepass")
    may_have_halves = b"\\ud" in raw or b"\\uD" in raw or (isinstance(text, str) and b"\xed" in raw)
    if may_have_halves and not half_characters:
        # A pair of halves is a character; one alone cannot be written anywhere.
        try:
            json.dumps(value, ensure_ascii=False, default=str).encode()
        except UnicodeEncodeError:
            raise ValueError("it holds half a character") from None
        except RecursionError:
            raise TooDeep(_TOO_DEEP) from None
    if not any_depth and len(raw) > MAX_DEPTH and _may_be_deep(raw):
        check_depth(value)
    return value


def check_depth(value: Any) -> None:
    """Raise TooDeep for a value that is nested deeper than MAX_DEPTH."""
    if _depth(value) > MAX_DEPTH:
        raise TooDeep(_TOO_DEEP)


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is not a number in JSON")


def _may_be_deep(raw: bytes) -> bool:
    """Whether a text can be nested too deeply. As fast as a look at its brackets: innermost pairs are removed
    repeatedly; brackets in texts may remain."""
    marks = raw.translate(None, _OTHERS)
    for _ in range(MAX_DEPTH):
        if len(marks) <= MAX_DEPTH:
            return False
        left = marks.replace(b"[]", b"").replace(b"{}", b"")
        if len(left) == len(marks):
            return True
        marks = left
    return bool(marks)


def _depth(value: Any) -> int:
    """How many objects and lists are within each other, counted no further than needed."""
    level, depth = [value], 0
    while level and depth <= MAX_DEPTH:
        below: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                below += item.values()
            elif isinstance(item, list):
                below += item
        depth += bool(below)
        level = [item for item in below if isinstance(item, (dict, list))]
    return depth
