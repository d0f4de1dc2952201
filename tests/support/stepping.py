"""Verbs with and without an event loop as in a process of their own: in that of the tests, something has
always imported asyncio."""

import ast
import importlib.util
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import CoroutineType
from typing import Any
from unittest import mock

from jsctl.commands.cli.verbs import finish
from jsctl.env import Env

_WITH_ASYNCIO = ("asyncio", "nats", "prompt_toolkit", "questionary", "pyspark")

_STATEMENTS = re.compile(
    r"^(?:from|import|if|elif|else|try|except|finally)\b.*\n(?:[ \t)].*\n|\n)*", re.MULTILINE
)
"""What a module may import with, at its level: a tenth of most, which is parsed ten times as fast."""

in_a_loop = False  #: whether all verbs begin in an event loop


@cache
def imports_asyncio(module: str) -> bool:
    """Whether the import of a module of jsctl imports asyncio."""
    return any(name.split(".")[0] in _WITH_ASYNCIO for name in list_imports(module))


@cache
def list_imports(module: str) -> frozenset[str]:
    """All that a module imports, with what that imports."""
    names: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in names:
            continue
        names.add(name)
        if name.startswith("jsctl"):
            waiting += _list_own_imports(name)
    return frozenset(names)


@cache
def _list_own_imports(module: str) -> tuple[str, ...]:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        return ()
    package, _, _ = module.rpartition(".")
    found = [package] if package else []
    for node in walk_module_level(parse_imports(Path(spec.origin).read_text(encoding="utf-8")).body):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append(node.module or "")
            if (node.module or "").startswith("jsctl"):
                children = [f"{node.module}.{alias.name}" for alias in node.names]
                found += [child for child in children if _is_module(child)]
    return tuple(found)


def parse_imports(text: str) -> ast.Module:
    """Parse the imports at the level of a module, and little else."""
    try:
        return ast.parse("".join(_STATEMENTS.findall(text)))
    except SyntaxError:  # a docstring has a line that begins like a statement
        return ast.parse(text)


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # a name in a module that is no package
        return False


def walk_module_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        yield node
        if isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.unparse(node.test):
            yield from walk_module_level([*node.body, *node.orelse])
        elif isinstance(node, ast.If):
            yield from walk_module_level(node.orelse)
        elif isinstance(node, ast.Try):
            yield from walk_module_level(node.body)


@contextmanager
def as_in_a_process_of_its_own() -> Iterator[None]:
    """Let a verb begin in an event loop only if what its module imports asks for one."""
    imported = False

    def finish_as_alone(env: Env, value: Any) -> Any:
        nonlocal imported
        before = imported
        if isinstance(value, CoroutineType) and value.cr_frame:
            imported = imports_asyncio(value.cr_frame.f_globals["__name__"])
        try:
            return finish(env, value)
        finally:
            imported = before

    with (
        mock.patch("jsctl.commands.cli.verbs.finish", finish_as_alone),
        mock.patch("jsctl.base.loops.is_asyncio_imported", lambda: imported or in_a_loop),
    ):
        yield
