"""Golden outputs: whole texts at a fixed width, what varies matched by shape."""

import os
import re
from collections.abc import Callable
from pathlib import Path

_FOLDER = Path(__file__).parent.parent / "golden"
_SHAPES: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)"), "YYYY-MM-DD hh:mm:ss"),
    (re.compile(r"(Host Version: )\S+"), r"\1N.N.N"),
    (re.compile(r"(hosted at level )\d+"), r"\1N"),
    (re.compile(r"(Last Seen: )\S+"), r"\1T"),
    # In a table the shape is as wide as the value was.
    (re.compile(r"(?<=[│ ] )(?:\d+(?:\.\d+)?m?s|never)(?= +[│\d])"), lambda m: "T".rjust(len(m[0]))),
)


def check(name: str, text: str) -> None:
    """Compare with tests/golden/<name>; JSCTL_GOLDEN=write writes it, to be read before it is committed."""
    shaped = text
    for pattern, shape in _SHAPES:
        shaped = pattern.sub(shape, shaped)
    file = _FOLDER / name
    if os.environ.get("JSCTL_GOLDEN") == "write":
        file.write_text(shaped)
    assert shaped == file.read_text(), f"{name} differs; JSCTL_GOLDEN=write rewrites it"
