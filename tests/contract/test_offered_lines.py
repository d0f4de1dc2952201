"""Command lines that hints and fixes offer: their verbs exist, and take the flags that they name."""

import ast
from collections.abc import Iterator
from pathlib import Path

import click

import jsctl
from jsctl.app import root

_BUILDERS = ("build_line", "build_system_line", "build_account_line", "build_origin_line", "Suggestion")


def list_offered() -> Iterator[tuple[str, str, list[str]]]:
    """Yield where a line is built, its verb and its flags, as far as the code has them as text."""
    package = Path(jsctl.__file__).parent
    for path in sorted(package.rglob("*.py")):
        text = path.read_text()
        if not any(builder in text for builder in _BUILDERS):
            continue
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            verbs = [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
            if name in _BUILDERS and verbs and isinstance(verbs[0], str) and verbs[0]:
                words = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)]
                flags = [word for word in words if isinstance(word, str) and word.startswith("--")]
                yield f"{path.relative_to(package)}:{node.lineno}", verbs[0], flags


def find_command(verb: str) -> click.Command | None:
    """Return the command of a verb, perhaps with arguments; None for the words of a local function."""
    command: click.Command | None = root
    for word in verb.split():
        if isinstance(command, click.Group):
            command = command.get_command(click.Context(command), word)
    return command


def list_flags(command: click.Command) -> set[str]:
    return {flag for option in command.params for flag in (*option.opts, *option.secondary_opts)}


def test_offered_lines_exist() -> None:
    wrong = []
    for where, verb, flags in list_offered():
        command = find_command(verb)
        if command is not None and (unknown := set(flags) - list_flags(command) - list_flags(root)):
            wrong.append(f"{where}: jsctl {verb} has no {unknown}")
    assert not wrong
