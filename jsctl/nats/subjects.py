"""Names of streams and subjects, as the server takes them."""

import re
from collections.abc import Iterable

_NAME = r"[^\s.*>/\\\x00-\x1f\x7f]+"


def check_name(name: str, what: str = "stream") -> str:
    """A name that the server takes (server: isValidName, and it becomes a folder), or ValueError."""
    if not name:
        raise ValueError(f"a {what} needs a name")
    if not re.fullmatch(_NAME, name):
        raise ValueError(f"{name!r} is no {what} name: no dots, spaces, wildcards or slashes")
    if len(name) > 255:
        raise ValueError(f"a {what} name has at most 255 characters")
    return name


def split_subjects(texts: Iterable[str]) -> list[str]:
    """`["a,b", "c d"]` is a, b, c and d."""
    return [part for text in texts for part in re.split(r"[\s,]+", text) if part]


def is_subject(subject: object) -> bool:
    """Whether the server would take it as a subject, wildcards included."""
    if not isinstance(subject, str) or not subject or re.search(r"\s", subject):
        return False
    tokens = subject.split(".")
    return all(tokens) and ">" not in tokens[:-1]


def overlap(one: str, other: str) -> bool:
    """Whether some subject matches both; each may have wildcards."""
    left, right = one.split("."), other.split(".")
    for at in range(max(len(left), len(right))):
        if at >= len(left) or at >= len(right):
            return False
        if ">" in (left[at], right[at]):
            return True
        if "*" not in (left[at], right[at]) and left[at] != right[at]:
            return False
    return True
