"""The private parts of click that completion uses: a release that lacks one fails here first."""

import ast
import inspect
from pathlib import Path

import click
import pytest
from click import shell_completion

from jsctl.commands.shared import shells
from jsctl.commands.shared.name_cache import parse_wait

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


def test_many_names_are_quoted_one_by_one_where_needed() -> None:
    """5,000 plain names cost nothing; others are still quoted."""
    assert [shells._quote_for_bash(word) for word in ("ORDERS_1", "a b", "x;y", "größe", "")] == [
        "ORDERS_1",
        "a\\ b",
        "x\\;y",
        "größe",
        "",
    ]


def test_many_known_names_are_not_waited_for() -> None:
    assert parse_wait({}, known=5000) < parse_wait({}, known=10) == parse_wait({})
    assert parse_wait({"JSCTL_COMPLETE_WAIT": "700"}, known=5000) == 0.7
