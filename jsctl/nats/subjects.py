"""Subjects, and names of streams and consumers, as the server takes them."""

import re
from collections.abc import Iterable

from jsctl.errors import BadInput

_NAME = r"[^\s.*>/\\\x00-\x1f\x7f]+"
_BUCKET = r"[a-zA-Z0-9_-]+"
_EXISTING_NAME = r"[^ \t\r\n\f.*>/\\\x00]+"
"""Names that a server accepts, including control characters that nobody should use."""

_ESCAPE = r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4}))"


def validate_name(name: str, noun: str = "stream") -> str:
    """Return a name if the server accepts it (nats-server: isValidName; it becomes a folder).

    Raises ValueError.
    """
    if not name:
        raise ValueError(f"a {noun} needs a name")
    if not re.fullmatch(_NAME, name):
        raise ValueError(f"{name!r} is not a valid {noun} name: no dots, spaces, wildcards or slashes")
    if len(name) > 255:
        raise ValueError(f"a {noun} name has at most 255 characters")
    return name


def validate_bucket(name: str, prefix: str) -> str:
    """Return a name that every client opens (ADR-8, ADR-20). prefix: of the stream's name. Raises
    ValueError.
    """
    if not name:
        raise ValueError("a bucket needs a name")
    if not re.fullmatch(_BUCKET, name):
        raise ValueError(f"{name!r} is not a valid bucket name: letters, digits, _ and - only")
    if len(prefix + name) > 255:
        raise ValueError(f"a bucket name has at most {255 - len(prefix)} characters")
    return name


def validate_existing_name(name: str, noun: str) -> str:
    r"""Return the name of something that exists, which may contain control characters.

    These may be typed as they are, or as jsctl shows them: `\x1b` for ESC. Raises ValueError.
    """
    if "\\" in name:  # an escape: no name contains a backslash
        name = re.sub(_ESCAPE, lambda escape: chr(int(escape[1] or escape[2], 16)), name)
    if re.fullmatch(_EXISTING_NAME, name) and len(name) <= 255 and is_sendable(name):
        return name
    return validate_name(name, noun)


def split_subjects(texts: Iterable[str]) -> list[str]:
    """Split texts at commas and white space: `["a,b", "c d"]` becomes a, b, c and d."""
    return [part for text in texts for part in re.split(r"[\s,]+", text) if part]


def explain_wildcards(subjects: Iterable[str]) -> str:
    """Return that `*` and `>` within a token stand for themselves, for the first such subject; else empty."""
    for subject in subjects:
        for token in subject.split("."):
            if len(token) > 1 and ("*" in token or ">" in token):
                mark = "*" if "*" in token else ">"
                return f"in {subject!r} the {mark} stands for itself: a wildcard is a whole token"
    return ""


def is_subject(subject: object) -> bool:
    """Return whether the server accepts a text as a subject, wildcards included."""
    if not isinstance(subject, str) or subject.split() != [subject]:
        return False
    tokens = subject.split(".")
    return all(tokens) and ">" not in tokens[:-1]


def validate_subject(subject: str, purpose: str = "publish to") -> str:
    """Return a subject if it is valid and does not break the protocol's lines. Raises BadInput.

    purpose: "publish to", where wildcards are refused too, "send to", "subscribe to" or "reply on".
    """
    broken = any(c.isspace() or c < " " for c in subject) or not is_sendable(subject)
    if not subject or broken or not all(subject.split(".")):
        raise BadInput(f"{subject!r} is not a valid subject to {purpose}")
    if purpose == "publish to" and any(token in ("*", ">") for token in subject.split(".")):
        raise BadInput(f"{subject!r} contains a wildcard", "publish to a literal subject")
    return subject


def is_sendable(text: str) -> bool:
    """Return whether text can be sent as UTF-8; a lone surrogate, which JSON may contain, cannot."""
    return text.isascii() or not re.search("[\ud800-\udfff]", text)


def matches(subject_filter: str, subject: str) -> bool:
    """Return whether a subscription to `subject_filter` receives `subject`."""
    pattern, tokens = subject_filter.split("."), subject.split(".")
    for at, token in enumerate(pattern):
        if token == ">":
            return len(tokens) > at
        if at >= len(tokens) or token not in ("*", tokens[at]):
            return False
    return len(pattern) == len(tokens)


def covers(wide: str, narrow: str) -> bool:
    """Return whether `wide` matches whatever `narrow` matches; each may have wildcards."""
    pattern, tokens = wide.split("."), narrow.split(".")
    for at, token in enumerate(pattern):
        if token == ">":
            return len(tokens) > at
        if at >= len(tokens) or tokens[at] == ">" or token not in ("*", tokens[at]):
            return False
    return len(pattern) == len(tokens)


def overlaps(first: str, second: str) -> bool:
    """Return whether any subject matches both; each may have wildcards."""
    left, right = first.split("."), second.split(".")
    for at in range(max(len(left), len(right))):
        if at >= len(left) or at >= len(right):
            return False
        if ">" in (left[at], right[at]):
            return True
        if "*" not in (left[at], right[at]) and left[at] != right[at]:
            return False
    return True
