"""JSON from servers, files and people: all of jsctl parses it here. And JSON with numbers of any length."""

import json
import os
import re
import sys
from collections.abc import Callable
from itertools import accumulate
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from decimal import Decimal

MAX_DEPTH = 100
"""Maximum depth of nested objects and lists, as code that reads them recurses."""

MAX_VALUES = 2_000_000
"""Maximum number of values of a document: two bytes such as `[]` may take a hundred in memory."""

_TOO_DEEP = f"it is nested too deeply, at most {MAX_DEPTH} levels are valid"
_AS_BRACKETS = bytes.maketrans(b"{}", b"[]")
_BACKSLASH = ord("\\")  #: a byte is found ten times as fast by its number
_STEPS = {ord("["): 1, ord("]"): -1}

_NOT_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
_PLAIN = (str, int)


class TooDeep(ValueError):
    """An error for JSON that is nested deeper than MAX_DEPTH."""


def parse_json(
    text: str | bytes,
    *,
    allow_surrogates: bool = False,
    any_depth: bool = False,
    parse_float: Callable[[str], Any] | None = None,
) -> Any:
    """Parse JSON.

    allow_surrogates: accept unpaired surrogates, which a file that people write may contain. any_depth: do
    not check the depth, which takes a fifth of the time; the caller calls `check_depth` if values can be
    deeply nested. parse_float: makes the value of a number with a fraction or an exponent; by default a
    float.

    Raises ValueError for text that is not JSON, is nested too deeply, has too many values, has numbers that
    are not finite or have thousands of digits, or contains an unpaired surrogate.
    """
    raw = text if isinstance(text, bytes) else text.encode(errors="surrogatepass")
    if len(raw) > MAX_VALUES and _count_values(raw) > MAX_VALUES:
        raise ValueError(f"it has more than {MAX_VALUES:,} values")
    try:
        decoder = _DECODER if parse_float is None else _make_decoder(parse_float)
        characters = _decode(text) if isinstance(text, bytes) else text
        value, end = decoder.raw_decode(characters) if characters[:1] == "{" else (None, -1)
        if end != len(characters):  # white space around it, or what is no object
            value = decoder.decode(characters)
    except RecursionError:
        raise TooDeep(_TOO_DEEP) from None
    except ValueError as error:
        if "integer string conversion" in str(error):  # Python's message is about its own limit
            raise ValueError(
                f"it has a number of more than {sys.get_int_max_str_digits():,} digits"
            ) from None
        raise
    is_escaped = _BACKSLASH in raw and (b"\\ud" in raw or b"\\uD" in raw)
    may_have_surrogates = is_escaped or (isinstance(text, str) and b"\xed" in raw)
    if may_have_surrogates and not allow_surrogates:
        # A pair of surrogates is a character; one alone cannot be encoded.
        try:
            json.dumps(value, ensure_ascii=False, default=str).encode()
        except UnicodeEncodeError:
            raise ValueError("it contains an unpaired surrogate") from None
        except RecursionError:
            raise TooDeep(_TOO_DEEP) from None
    if not any_depth and len(raw) > 2 * MAX_DEPTH and _is_deep(raw):
        raise TooDeep(_TOO_DEEP)
    return value


def _decode(text: bytes) -> str:
    if text.isascii() and 0 not in text:  # nearly always, and a third of the time to detect it
        return text.decode("ascii")
    return text.decode(json.detect_encoding(text), "surrogatepass")


def _make_decoder(parse_float: Callable[[str], Any] | None = None) -> json.JSONDecoder:
    return json.JSONDecoder(parse_constant=_refuse_constant, parse_float=parse_float)


def encode_json(
    value: Any,
    *,
    indent: int | None = None,
    compact: bool = False,
    default: Callable[[Any], Any] | None = None,
    number: "Callable[[Decimal], str]" = str,
) -> str:
    """Return JSON in which decimals are numbers with all of their digits.

    Args:
        indent: of nested values; None for one line.
        compact: leave out blanks.
        default: returns the JSON form of a value of a type that json does not know.
        number: returns the text of a decimal that is finite.

    Raises TypeError, and what `default` and `number` raise.
    """
    mark = ""

    def convert(item: Any) -> Any:
        nonlocal mark
        from decimal import Decimal  # only where it is needed

        if isinstance(item, Decimal):
            mark = mark or os.urandom(8).hex()  # which no text of `value` contains
            return f"{mark}{number(item)}"
        if default is None:
            raise TypeError(f"{type(item).__name__} has no JSON form")
        return default(item)

    separators = (",", ":") if compact else None
    text = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators, default=convert)
    return re.sub(f'"{mark}([^"]*)"', r"\1", text) if mark else text


def to_json_value(value: Any) -> Any:
    """Return a value of Avro, Protobuf or Spark as JSON has it.

    Binary is base64, times are ISO 8601, and NaN and infinities are texts, as Spark writes them; decimals
    stay as they are, for `encode_json`. Raises TooDeep.
    """
    try:
        return _simplify(value)
    except RecursionError:
        raise TooDeep(_TOO_DEEP) from None


def _simplify(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _simplify(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_simplify(item) for item in value]
    if isinstance(value, float):
        return _NOT_FINITE.get(str(value), value)
    if isinstance(value, bytes):
        import base64  # only where it is needed

        return base64.b64encode(value).decode()
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return value if value is None or isinstance(value, _PLAIN) or hasattr(value, "as_tuple") else str(value)


def check_depth(value: Any) -> None:
    """Raise TooDeep for a value that is nested deeper than MAX_DEPTH."""
    if _measure_depth(value) > MAX_DEPTH:
        raise TooDeep(_TOO_DEEP)


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is not a number in JSON")


_DECODER = _make_decoder()  #: making one takes as long as decoding an acknowledgement


def _count_values(raw: bytes) -> int:
    """Return an upper bound of the number of values. Above the limit, commas and brackets in strings do not
    count.
    """
    count = raw.count(b",") + raw.count(b"[") + raw.count(b"{")
    if count <= MAX_VALUES:
        return count
    return len(_extract_marks(raw, b"[{,"))


def _is_deep(raw: bytes) -> bool:
    """Return whether a document is nested deeper than MAX_DEPTH.

    Takes about as long as one pass over its brackets, as most of them are removed with the innermost levels.
    """
    if raw.count(b"[") + raw.count(b"{") <= MAX_DEPTH:  # nearly all messages
        return False
    marks, levels = _extract_marks(raw, b"[]{}"), MAX_DEPTH
    while len(marks) > 2 * levels > 2 * MAX_DEPTH - 8:
        marks, levels = marks.replace(b"[]", b""), levels - 1
    return len(marks) > 2 * levels and max(accumulate(map(_STEPS.__getitem__, marks))) > levels


def _extract_marks(raw: bytes, marks: bytes) -> bytes:
    """Return the given marks of a JSON document in their order, without those in strings; braces become
    brackets.
    """
    if b"\\" in raw:  # occurs only in strings
        raw = raw.replace(b"\\\\", b"").replace(b'\\"', b"")
    bare = raw.translate(_AS_BRACKETS, bytes(set(range(256)) - {*marks, *b'"'})).replace(b'""', b"")
    return b"".join(bare.split(b'"')[::2])


def _measure_depth(value: Any) -> int:
    """Return how deeply objects and lists are nested; counting stops above MAX_DEPTH."""
    level, depth = [value], 0
    while level and depth <= MAX_DEPTH:
        children: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                children += item.values()
            elif isinstance(item, list):
                children += item
        depth += bool(children)
        level = [item for item in children if isinstance(item, (dict, list))]
    return depth
