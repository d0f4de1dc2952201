"""Only `jsctl.base.command_lines` puts names into command lines: a shell would run what they contain."""

import ast
import re
from collections.abc import Iterable, Iterator

import pytest

from jsctl import registry
from tests.support.sources import PACKAGE, read_modules

EXEMPT = {
    "command_lines.py": "builds them",
    "commands/demo/player.py": "shows the lines of a walkthrough, which are written as a shell reads them",
    "views/server/walkthrough.py": "shows them, too",
}

WORDS = sorted(
    {word for name, entry in registry.list_children("").items() for word in (name, *entry.aliases)}, key=len
)
STARTS = re.compile(rf"\bjsctl ({'|'.join(map(re.escape, reversed(WORDS)))}|\{{|%|<<)(?![\w-])")
"""A command line that begins; a word beside the verbs, such as `jsctl: error`, is none."""


def test_command_lines_with_values_are_built_in_one_place() -> None:
    building = [
        f"{path.relative_to(PACKAGE)}:{line}: {text}"
        for path, nodes in read_modules().items()
        if str(path.relative_to(PACKAGE)) not in EXEMPT
        for line, text in find_built_lines(nodes)
    ]
    assert not building, "use build_line or Suggestion of jsctl.base.command_lines:\n" + "\n".join(building)


@pytest.mark.parametrize(
    "code",
    [
        'f"jsctl stream info {name}"',
        'f"see {place}: jsctl stream ls"',
        'f"try: jsctl {verb}"',
        '"jsctl stream info " + name',
        'hint + ": jsctl stream info " + name',
        '"jsctl stream info %s" % name',
        '"jsctl stream info {}".format(name)',
        '"jsctl {}".format(verb)',
        '" ".join(["jsctl", "stream", name])',
        'shlex.join(["jsctl", *words])',
        '["jsctl", *words]',
        'line = "jsctl stream info "\nline += name',
        '"{x} jsctl stream info".replace("{x}", name)',
        'Template("jsctl stream info $name").substitute(name=name)',
    ],
)
def test_it_finds(code: str) -> None:
    assert list(find_built_lines(ast.walk(ast.parse(code))))


@pytest.mark.parametrize(
    "code",
    [
        '"jsctl stream ls lists the streams"',
        'f"jsctl: error: {error}"',
        'f"{count} messages of jsctl"',
        "f\"{build_line('stream info', name)} shows it\"",
        '"jsctl is " + name',
    ],
)
def test_it_leaves(code: str) -> None:
    assert not list(find_built_lines(ast.walk(ast.parse(code))))


def find_built_lines(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """Yield the line and text of each expression that makes a command line of several pieces."""
    for node in nodes:
        text = ""
        match node:
            case ast.JoinedStr():
                text = "".join(read_text(value) or "{" for value in node.values)
                if any(getattr(value.value, "id", "") == "__version__" for value in list_values(node)):
                    text = text.replace("jsctl {", "jsctl's version {")
            case ast.BinOp(op=ast.Add() | ast.Mod()) | ast.AugAssign(op=ast.Add() | ast.Mod()):
                sides = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.value,)
                text = "\n".join(read_text(side) + "<<" for side in sides)
                if all(read_text(side) for side in sides) and isinstance(node, ast.BinOp):
                    continue
            case ast.Assign(value=ast.Constant(value=str(constant))) if constant.endswith(" "):
                text = constant + "<<"
            case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(constant)), attr=attribute)):
                text = constant if attribute in ("format", "format_map", "replace", "join") else ""
            case ast.Call(func=ast.Name(id="Template"), args=[ast.Constant(value=str(constant))]):
                text = constant
            case ast.List(elts=elements) | ast.Tuple(elts=elements) if len(elements) > 1:
                if read_text(elements[0]) == "jsctl" and not all(map(read_text, elements)):
                    text = "jsctl {"
            case _:
                continue
        if STARTS.search(text):
            yield getattr(node, "lineno", 0), ast.unparse(node)[:100]


def list_values(node: ast.JoinedStr) -> list[ast.FormattedValue]:
    return [value for value in node.values if isinstance(value, ast.FormattedValue)]


def read_text(node: ast.AST) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
