"""Docstrings that describe parameters (`name: what it is`) describe those that exist."""

import ast
import re
from collections.abc import Iterator

from tests.support.sources import ROOT, read_modules

DESCRIBED = re.compile(r"(?:[.)]\s+|\n\n)([a-z_]+(?:, [a-z_]+)*): ")
"""What begins a sentence and stands before a colon: one name or several."""

CALLED = re.compile(r"`(?:\w+\.)*(\w+)\(\)`")

Function = ast.FunctionDef | ast.AsyncFunctionDef


Documented = Function | ast.ClassDef | ast.Module


def list_docstrings() -> Iterator[tuple[str, Documented, str]]:
    """Yield each docstring of the package with its place; not the help of commands, which has examples."""
    for path, nodes in read_modules().items():
        for node in nodes:
            if isinstance(node, Documented) and (text := ast.get_docstring(node)):
                called = (getattr(each, "func", None) for each in getattr(node, "decorator_list", ()))
                if not any(getattr(each, "id", "") in ("command", "destructive") for each in called):
                    yield f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}", node, text


def list_parameters(function: Function) -> set[str]:
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return {each.arg for each in [*named, arguments.vararg] if each}


def list_unknown(function: Function, text: str) -> list[str]:
    if function.args.kwarg:
        return []
    described = [name for match in DESCRIBED.finditer(text) for name in match[1].split(", ")]
    return [name for name in described if name not in list_parameters(function)]


def test_described_parameters_exist() -> None:
    wrong = [
        f"{place} {name}"
        for place, node, text in list_docstrings()
        if isinstance(node, Function)
        for name in list_unknown(node, text)
    ]
    assert not wrong, "\n".join(wrong)


def test_a_missing_parameter_is_found() -> None:
    source = "def rolled(rows, folder): pass"
    (function,) = ast.parse(source).body
    assert isinstance(function, Function)
    assert list_unknown(function, "Return it. rows: by table. where: the folder.") == ["where"]
    assert list_unknown(function, "Return it.\n\nrows, took: ns.") == ["took"]


def test_functions_that_docstrings_call_exist() -> None:
    documented = list(list_docstrings())
    known = {
        node.name
        for nodes in read_modules().values()
        for node in nodes
        if isinstance(node, Function | ast.ClassDef)
    }
    wrong = [
        f"{place} {name}()"
        for place, _, text in documented
        for name in CALLED.findall(text)
        if name not in known
    ]
    assert not wrong, "\n".join(wrong)
