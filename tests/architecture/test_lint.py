"""ruff and mypy, so that the one test command holds everything."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        pytest.param(["mypy"], marks=pytest.mark.slow),
    ],
    ids=" ".join,
)
def test_tools_have_nothing_to_say(command: list[str]) -> None:
    if command == ["mypy"]:
        pytest.importorskip("pyspark")
    tool = str(Path(sys.executable).parent / command[0])
    done = subprocess.run([tool, *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
