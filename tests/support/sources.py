"""The package's own code, parsed once for the tests that look at it."""

import ast
import gc
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
def read_modules() -> dict[Path, list[ast.AST]]:
    """Return the nodes of each module's syntax tree, the module itself first.

    They are a million objects, and stay: no collection of garbage looks at them.
    """
    gc.disable()
    try:
        return {path: list(ast.walk(ast.parse(path.read_bytes()))) for path in sorted(PACKAGE.rglob("*.py"))}
    finally:
        gc.enable()
        gc.freeze()


@cache
def uses() -> dict[Kind, list[Use]]:
    """Return the words that the package's modules use, by kind."""
    by_kind: dict[Kind, list[Use]] = defaultdict(list)
    for path, nodes in read_modules().items():
        lines = path.read_bytes().split(b"\n")
        by_kind["public function"] += [
            Use(path, node.lineno, node.name) for node in _public_functions(nodes[0])
        ]
        for node in nodes:
            for kind, text in _words(node, lines):
                by_kind[kind].append(Use(path, getattr(node, "lineno", 1), text))
    return by_kind


def _public_functions(tree: ast.AST) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Return the functions of a module that others may call, without predicates and context managers."""
    return [
        node
        for node in ast.iter_child_nodes(tree)
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
