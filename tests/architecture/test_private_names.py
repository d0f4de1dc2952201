"""The private names of click and PySpark that jsctl uses: all stand here, and each version that
pyproject.toml allows has them. `tests/unit/nats/test_nats_py.py` does the same for nats-py."""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click import shell_completion

from tests.support.sources import PACKAGE

COMPLETION = {
    "_resolve_context": ["cli", "ctx_args", "prog_name", "args"],
    "_resolve_incomplete": ["ctx", "args", "incomplete"],
}
"""What a shell completes, which click finds for its own scripts only; ours also know names on servers."""

CLICK = {*COMPLETION, "_custom_shell_complete"}  # whether a parameter has a completion of its own

PYSPARK = {
    "_active_spark_context",  # whether this process has a Spark: all public ways start one
    "_gateway",  # forgotten at the end, so that a later session can start another JVM
    "_jvm",  # as above
    "_jsc",  # which executors there are, and whether Spark ended the application
}


def list_private_names(folder: Path) -> Iterator[str]:
    """Yield private names that code takes from elsewhere: attributes and imports that the package nowhere
    defines."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    ours = {
        node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }
    own = ("self", "cls")
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            ours.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in own:
            ours.add(node.attr)
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            found: list[str] = []
            if isinstance(node, ast.Attribute):
                found = [node.attr]
            elif isinstance(node, ast.ImportFrom) and not (node.module or "").startswith("jsctl"):
                found = [alias.name for alias in node.names]
            elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("getattr", "setattr", "hasattr"):
                found = [str(each.value) for each in node.args if isinstance(each, ast.Constant)]
            yield from (name for name in found if re.match("_[a-z]", name) and name not in ours)


@pytest.mark.slow
def test_each_private_name_is_listed() -> None:
    exit_of_a_fork = {"_exit"}
    assert set(list_private_names(PACKAGE / "commands")) - exit_of_a_fork == CLICK
    assert set(list_private_names(PACKAGE / "spark")) == PYSPARK


@pytest.mark.parametrize("name", COMPLETION)
def test_functions_of_click_take_what_we_give(name: str) -> None:
    assert list(inspect.signature(getattr(shell_completion, name)).parameters) == COMPLETION[name]


def test_a_parameter_keeps_its_own_completion() -> None:
    parameter = click.Argument(["name"], shell_complete=lambda ctx, param, incomplete: ["one"])
    assert callable(parameter._custom_shell_complete)


def test_contexts_keep_the_words_of_a_group_that_are_left() -> None:
    """`tests/contract/test_commands.py` parses lines all the way down with them."""
    assert click.Context(click.Command("verb"))._protected_args == []


def test_pyspark_has_them() -> None:
    context = pytest.importorskip("pyspark").SparkContext
    assert vars(context).keys() >= PYSPARK - {"_jsc"}
    assert "_jsc" in inspect.getsource(context)
