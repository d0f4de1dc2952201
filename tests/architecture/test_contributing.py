"""The contributor's page is true: what it names exists, and its steps make a verb."""

import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "jsctl" / "manual" / "contributing.md").read_text()
FILES = {
    match[1]: textwrap.dedent(match[2])
    for match in re.finditer(r"```python\n *# (\S+)\n(.*?)```", PAGE, re.DOTALL)
}
"""The files that the steps write, by path."""

NAMED = sorted(set(re.findall(r"(?:jsctl|tests)/[\w/.]*\w/?", PAGE)) - set(FILES) - {"jsctl/commands/<noun>"})


def test_what_it_names_exists() -> None:
    assert NAMED
    assert [path for path in NAMED if not (ROOT / path).exists()] == []


@pytest.mark.slow
def test_its_steps_add_a_verb(tmp_path: Path) -> None:
    skipped = shutil.ignore_patterns("*.pyc.*")  # byte code that another process is about to move into place
    for folder in ("jsctl", "tests"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=skipped)
    for file in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / file, tmp_path)
    registry, *new = FILES
    assert len(new) == 4
    for path in new:
        assert not (tmp_path / path).exists()
        (tmp_path / path).write_text(FILES[path])
    lines = (tmp_path / registry).read_text()
    verbs = "VERBS: dict[str, Entry] = {\n"
    assert verbs in lines
    (tmp_path / registry).write_text(lines.replace(verbs, verbs + textwrap.indent(FILES[registry], "    ")))

    def run(*args: str) -> None:
        done = subprocess.run(
            [sys.executable, *args],
            cwd=tmp_path,
            env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    run("-m", "tests.support.readme")
    run("-m", "ruff", "check", *FILES)
    run("-m", "ruff", "format", "--check", *FILES)
    architecture = ("tests/architecture/test_pages.py", "tests/architecture/test_wording.py")
    folders = ("tests/contract", "tests/commands/stream/test_idle.py", *architecture)
    run(
        "-m",
        "pytest",
        "-n",
        "0",
        *folders,
        "-k",
        "idle or test_pages.py or test_wording.py or test_commands.py",
    )
    assert (tmp_path / "jsctl" / "manual" / "streams.md").read_text().count("jsctl stream idle") == 1
