"""Codes of problems are those of rules; the manual says which doctor alone finds: those that no rule of
single objects has."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import jsctl
from jsctl.monitor.doctor.diagnosis import CODES

PACKAGE = Path(jsctl.__file__).parent
SHARED = ("rules", "consumer", "report", "trouble.py")


def _list_words(node: ast.AST) -> Iterator[str]:
    """Yield the strings of a module, without those of its rules."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    if not (isinstance(node, ast.Call) and ast.unparse(node.func) == "Rule"):
        for child in ast.iter_child_nodes(node):
            yield from _list_words(child)


def test_codes_that_a_report_never_has() -> None:
    paths = [PACKAGE / "monitor" / name for name in SHARED]
    files = [file for path in paths for file in ([path] if path.is_file() else path.rglob("*.py"))]
    words = {word for file in files for word in _list_words(ast.parse(file.read_text()))}
    manual = (PACKAGE / "manual" / "doctor.md").read_text()
    alone = re.split(r"Only\s`doctor`\sfinds", manual)[1]
    assert set(re.findall(r"`([A-Z_]+)`", alone.partition("\n\n")[0])) == {*CODES} - words


def test_each_code_has_a_rule() -> None:
    calls = [
        (file, node)
        for file in (PACKAGE / "monitor").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("Trouble", "Trouble.of_network")
    ]
    unknown = [
        f"{file.relative_to(PACKAGE)}:{node.lineno} {argument.value!r}"
        for file, node in calls
        for argument in node.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
        if re.fullmatch(r"[A-Z]+(_[A-Z]+)+", argument.value) and argument.value not in CODES
    ]
    assert not unknown, f"add a Rule to RULES of the module: {unknown}"
