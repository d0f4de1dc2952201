"""The manual says which codes doctor alone finds: those that no rule of single objects has."""

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
