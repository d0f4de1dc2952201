"""The package's own code, parsed once for the tests that look at it."""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "jsctl"

Kind = Literal[
    "integer",
    "attribute",
    "name",
    "assert",
    "docstring",
    "public function",
]


class Use(NamedTuple):
    """A word of the code.

    text: as it is written there; for a string or a function's docstring, its value.
    """

    path: Path
    line: int
    text: str

    @property
    def place(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}"


@cache
def uses() -> dict[Kind, list[Use]]:
    """Return the words that the package's modules use, by kind.

    Their syntax trees are dropped: millions of objects would slow down every later test.
    """
    by_kind: dict[Kind, list[Use]] = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text()
        lines = source.encode().split(b"\n")
        tree = ast.parse(source)
        by_kind["public function"] += [Use(path, node.lineno, node.name) for node in _public_functions(tree)]
        for node in ast.walk(tree):
            for kind, text in _words(node, lines):
                by_kind[kind].append(Use(path, getattr(node, "lineno", 1), text))
    return by_kind


def _public_functions(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Return the functions of a module that others may call, without predicates and context managers."""
    return [
        node
        for node in tree.body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and not node.name.startswith("_")
        and not (isinstance(node.returns, ast.Name) and node.returns.id == "bool")
        and not any("contextmanager" in ast.unparse(decorator) for decorator in node.decorator_list)
    ]


def _words(node: ast.AST, lines: list[bytes]) -> list[tuple[Kind, str]]:
    match node:
        case ast.Constant(value=int() as number) if type(number) is int:
            return [("integer", lines[node.lineno - 1][node.col_offset : node.end_col_offset].decode())]
        case ast.Name(id=name):
            return [("name", name)]
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            is_property = any("property" in ast.unparse(decorator) for decorator in node.decorator_list)
            text = "" if is_property else ast.get_docstring(node) or ""
            return [("docstring", text)]
        case ast.Attribute(attr=name):
            return [("attribute", name)]
        case ast.Assert():
            return [("assert", "assert")]
    return []
