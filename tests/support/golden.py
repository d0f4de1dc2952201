"""Golden outputs: whole texts at a fixed width, what varies matched by shape."""

import re
from collections.abc import Callable
from pathlib import Path

from tests.support.generated import is_writing, rewrite

_FOLDER = Path(__file__).parent.parent / "golden"
_SHAPES: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)"), "YYYY-MM-DD hh:mm:ss"),
    (re.compile(r"(Host Version: )\S+"), r"\1N.N.N"),
    (re.compile(r"(hosted at level )\d+"), r"\1N"),
    (re.compile(r"(Last Seen: )\S+"), r"\1T"),
    # In a table the shape is as wide as the value was.
    (
        re.compile(r"(?<=[│ ] )(?:(?:\d+[hm])*\d+(?:\.\d+)?[mµn]?s|never)(?= *$| +[│\d])", re.MULTILINE),
        lambda match: "T".rjust(len(match[0])),
    ),
)
_UNSTABLE = re.compile(
    r"\b\d+(?:\.\d+)?(?:ns|[uµ]s|ms)\b|\b\d\d:\d\d:\d\d\b|\b\d+\.\d{3,}s\b|\b[NAUCOSX][A-Z2-7]{55}\b|:\d{5}\b"
)
"""What no configuration has: measured times, times of the day, public keys of a run, free ports."""


def shape(name: str, text: str) -> str:
    """Return a text with the shapes of what varies. Raises AssertionError for what varies and has none."""
    for pattern, replacement in _SHAPES:
        text = pattern.sub(replacement, text)
    unstable = _UNSTABLE.search(text)
    assert not unstable, f"{name}: {unstable[0]} varies; give it a shape in {Path(__file__).name}"
    return text


def check(name: str, text: str) -> None:
    """Compare with tests/golden/<name>; JSCTL_GOLDEN=write writes it, to be read before it is committed."""
    shaped, file = shape(name, text), _FOLDER / name
    if is_writing():
        rewrite(file, lambda _: shaped)
    assert shaped == file.read_text(), f"{name} differs; python -m tests.support.generate rewrites it"
