"""Codes of problems are those of rules."""

import ast
import re
from pathlib import Path

import jsctl
from jsctl.monitor.doctor.diagnosis import CODES

PACKAGE = Path(jsctl.__file__).parent


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
