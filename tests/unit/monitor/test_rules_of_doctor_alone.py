"""Codes of problems are those of the catalog; the manual says which doctor alone finds: those that no rule of
single objects has."""

import ast
import re
from pathlib import Path

import jsctl
from jsctl.monitor.rules.catalog import BY_CODE

PACKAGE = Path(jsctl.__file__).parent
SHARED = ("rules", "consumer", "report", "trouble.py")


def test_codes_that_a_report_never_has() -> None:
    paths = [PACKAGE / "monitor" / name for name in SHARED]
    files = [
        file
        for path in paths
        for file in ([path] if path.is_file() else path.rglob("*.py"))
        if file.name != "catalog.py"
    ]
    words = {
        node.value
        for file in files
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    manual = (PACKAGE / "manual" / "doctor.md").read_text()
    alone = re.split(r"Only\s`doctor`\sfinds", manual)[1]
    assert set(re.findall(r"`([A-Z_]+)`", alone.partition("\n\n")[0])) == {*BY_CODE} - words


def test_each_code_is_in_the_catalog() -> None:
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
        if re.fullmatch(r"[A-Z]+(_[A-Z]+)+", argument.value) and argument.value not in BY_CODE
    ]
    assert not unknown, f"add a Rule to jsctl/monitor/rules/catalog.py: {unknown}"
