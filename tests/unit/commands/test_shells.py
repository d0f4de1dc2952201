"""The private parts of click that completion uses: a release that lacks one fails here first."""

import ast
import inspect
from pathlib import Path

import click
import pytest
from click import shell_completion

from jsctl.commands.shared import shells

FUNCTIONS = {
    "_resolve_context": ["cli", "ctx_args", "prog_name", "args"],
    "_resolve_incomplete": ["ctx", "args", "incomplete"],
}
ATTRIBUTES = {"_custom_shell_complete"}


def test_completion_uses_no_others() -> None:
    tree = ast.parse(Path(shells.__file__).read_text(encoding="utf-8"))
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("click")
        for alias in node.names
    }
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    private = {name for name in vars(click.Option(["-x"])) if name.startswith("_")}
    assert {name for name in imported if name.startswith("_")} == set(FUNCTIONS)
    assert {name for name in private if name in texts} == ATTRIBUTES


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_take_what_we_give(name: str) -> None:
    assert list(inspect.signature(getattr(shell_completion, name)).parameters) == FUNCTIONS[name]


def test_a_parameter_keeps_its_own_completion() -> None:
    parameter = click.Argument(["name"], shell_complete=lambda ctx, param, incomplete: ["one"])
    assert callable(getattr(parameter, *ATTRIBUTES))
