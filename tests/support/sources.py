"""The package's own code, read and parsed once for the tests that look at it."""

import ast
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "jsctl"


class Source(NamedTuple):
    """A module. nodes: all of its syntax tree."""

    path: Path
    text: str
    nodes: tuple[ast.AST, ...]

    def place(self, line: int) -> str:
        return f"{self.path.relative_to(ROOT)}:{line}"


@cache
def modules() -> tuple[Source, ...]:
    """Every module of the package."""
    texts = {path: path.read_text() for path in sorted(PACKAGE.rglob("*.py"))}
    return tuple(Source(path, text, tuple(ast.walk(ast.parse(text)))) for path, text in texts.items())
