"""Subject mappings as the server applies them (ADR-30; nats-server: server/subject_transform.go)."""

import random
import re
from collections.abc import Callable, Sequence

from jsctl.errors import BadInput

_FUNCTION = re.compile(r"\{\{\s*(\w+)\s*\((.*)\)\s*\}\}")
_DOLLAR = re.compile(r"\$(\d+)")

Part = Callable[[str, Sequence[str]], str]
"""Called with a subject and the tokens that its wildcards matched; returns a token of the destination."""


class SubjectTransform:
    """A mapping of subjects. Raises BadInput for a mapping that the server refuses."""

    def __init__(self, source: str, destination: str) -> None:
        self._source = source.split(".")
        if any(not token for token in self._source) or ">" in self._source[:-1]:
            raise BadInput(f"{source!r} is not a valid subject", "use tokens separated by dots")
        self._wildcard_count = self._source.count("*")
        self._has_rest = self._source[-1] == ">"
        tokens = _split_destination(destination)
        if any(not token for token in tokens) or (tokens[-1] == ">") != self._has_rest:
            raise BadInput(
                f"{destination!r} is not a valid destination of {source!r}",
                "put > at the end of both, or of neither",
            )
        stars = 0
        self._parts: list[Part] = []
        for token in tokens[:-1] if self._has_rest else tokens:
            if token == "*":
                stars += 1
            self._parts.append(self._build_part(token, stars))

    def apply(self, subject: str) -> str | None:
        """Return the subject that a subject is mapped to; None for one that the source does not match."""
        tokens = subject.split(".")
        fixed = self._source[:-1] if self._has_rest else self._source
        rest = tokens[len(fixed) :]
        if len(tokens) < len(fixed) or bool(rest) != self._has_rest or not all(tokens):
            return None
        values = []
        for expected, token in zip(fixed, tokens, strict=False):
            if expected == "*":
                values.append(token)
            elif expected != token:
                return None
        return ".".join([*(part(subject, values) for part in self._parts), *rest])

    def _build_part(self, token: str, stars: int) -> Part:
        if token == "*":
            return self._build_wildcard(stars)
        if match := _DOLLAR.fullmatch(token):
            return self._build_wildcard(int(match[1]))
        if match := _FUNCTION.fullmatch(token):
            return self._build_function(
                match[1], [argument.strip() for argument in match[2].split(",") if argument.strip()]
            )
        if "{{" in token:
            raise BadInput(f"{token!r} is not a mapping function", "a function must be a whole token")
        return lambda subject, values: token

    def _build_wildcard(self, number: int) -> Part:
        self._check_index(number)
        return lambda subject, values: values[number - 1]

    def _check_index(self, number: int) -> None:
        if not 1 <= number <= self._wildcard_count:
            raise BadInput(f"there is no wildcard {number}", f"the source has {self._wildcard_count}")

    def _build_function(self, name: str, arguments: list[str]) -> Part:
        lower = name.lower()
        if lower in ("partition", "random"):
            count, *indexes = _parse_numbers(name, arguments, 1, 2**31)
            if lower == "random":
                return lambda subject, values: str(random.randrange(count))
            for index in indexes:
                self._check_index(index)
            return lambda subject, values: str(_compute_partition(subject, values, indexes, count))
        if lower == "wildcard":
            return self._build_wildcard(*_parse_numbers(name, arguments, 1, 1))
        if lower == "split":
            if len(arguments) != 2:
                raise BadInput("split takes a wildcard and a delimiter", "write {{split(1,-)}}")
            index = _parse_numbers(name, arguments[:1], 1, 1)[0]
            self._check_index(index)
            return lambda subject, values: ".".join(filter(None, values[index - 1].split(arguments[1])))
        if lower not in _CUTS:
            names = ", ".join(("wildcard", "partition", "random", "split", *_CUTS))
            raise BadInput(f"{name} is not a mapping function", f"use {names}")
        index, size = _parse_numbers(name, arguments, 2, 2)
        self._check_index(index)
        cut = _CUTS[lower]
        return lambda subject, values: cut(values[index - 1], size)


def _split_destination(destination: str) -> list[str]:
    """Split a destination into tokens; dots within {{...}} do not separate."""
    return re.findall(r"(?:\{\{.*?\}\}|[^.{]|\{(?!\{))+|(?<=\.)(?=\.|$)|^(?=\.)", destination) or [""]


def _parse_numbers(name: str, arguments: Sequence[str], minimum: int, maximum: int) -> list[int]:
    try:
        numbers = [int(argument) for argument in arguments]
    except ValueError:
        numbers = []
    if not minimum <= len(numbers) <= maximum or any(number < 1 for number in numbers):
        raise BadInput(f"the arguments of {name} are not valid", "use whole numbers, 1 or more")
    return numbers


def _compute_partition(subject: str, values: Sequence[str], indexes: Sequence[int], count: int) -> int:
    """Return the partition, 0 to count - 1, by FNV-1a of the chosen tokens, or of the whole subject."""
    text = "".join(values[index - 1] for index in indexes) if indexes else subject
    digest = 2166136261
    for byte in text.encode():
        digest = ((digest ^ byte) * 16777619) & 0xFFFFFFFF
    return digest % count


def _split_left(text: str, size: int) -> str:
    return f"{text[:size]}.{text[size:]}" if size < len(text) else text


def _split_right(text: str, size: int) -> str:
    return f"{text[:-size]}.{text[-size:]}" if size < len(text) else text


def _slice_left(text: str, size: int) -> str:
    return ".".join(text[at : at + size] for at in range(0, len(text), size))


def _slice_right(text: str, size: int) -> str:
    first = len(text) % size
    head = [text[:first]] if first else []
    return ".".join([*head, *(text[at : at + size] for at in range(first, len(text), size))])


_CUTS: dict[str, Callable[[str, int], str]] = {
    "splitfromleft": _split_left,
    "splitfromright": _split_right,
    "slicefromleft": _slice_left,
    "slicefromright": _slice_right,
    "left": lambda text, size: text[:size],
    "right": lambda text, size: text[-size:],
}
