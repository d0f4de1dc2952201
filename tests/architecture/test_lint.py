"""ruff and mypy, so that the one test command holds everything."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run_tool(*command: str) -> tuple[bool, str]:
    """Run a tool of this environment. Return whether it found nothing, and its output."""
    tool = str(Path(sys.executable).parent / command[0])
    done = subprocess.run([tool, *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stdout + done.stderr


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "command", [["ruff", "check", "."], ["ruff", "format", "--check", "."]], ids=" ".join
)
def test_ruff_has_nothing_to_say(command: list[str]) -> None:
    succeeded, output = run_tool(*command)
    assert succeeded, f"run .venv/bin/ruff check --fix . && .venv/bin/ruff format .\n{output}"


@pytest.mark.timeout(300)
def test_mypy_has_nothing_to_say() -> None:
    """A second where little has changed; twenty the first time."""
    succeeded, output = run_tool("mypy")
    if importlib.util.find_spec("pyspark"):
        assert succeeded, output
    errors = list_type_errors(output)
    assert not errors, "\n".join(errors)
    assert "checked" in output or succeeded, output


def list_type_errors(output: str) -> list[str]:
    """Return the errors of mypy that do not come from a package that is not installed: files that import one
    have others, too."""
    errors = [line for line in output.splitlines() if ": error: " in line]
    incomplete = {line.partition(":")[0] for line in errors if line.endswith("[import-not-found]")}
    return [
        line
        for line in errors
        if line.partition(":")[0] not in incomplete and not line.endswith("[unused-ignore]")
    ]


def test_types_of_packages_that_are_missing_are_left_out() -> None:
    output = (
        'jsctl/spark/a.py:3: error: Cannot find implementation of "pyspark"  [import-not-found]\n'
        "jsctl/spark/a.py:9: error: Name is not valid as a type  [valid-type]\n"
        'jsctl/b.py:1: error: Unused "type: ignore" comment  [unused-ignore]\n'
        "jsctl/env.py:7: error: Missing named argument  [call-arg]\n"
        "jsctl/env.py:7: note: as declared there\n"
    )
    assert list_type_errors(output) == ["jsctl/env.py:7: error: Missing named argument  [call-arg]"]
