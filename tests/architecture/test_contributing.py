"""The contributor's page is true: what it names exists, and its steps make a verb and a figure."""

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

FIGURE_FILES = {path: text for path, text in FILES.items() if "figures" in path or "message_bytes" in path}
VERB_FILES = {path: text for path, text in FILES.items() if path not in FIGURE_FILES}

NAMED = sorted(set(re.findall(r"(?:jsctl|tests)/[\w/.]*\w/?", PAGE)) - set(FILES) - {"jsctl/commands/<noun>"})


def test_what_it_names_exists() -> None:
    assert NAMED
    assert [path for path in NAMED if not (ROOT / path).exists()] == []


def copy_project(tmp_path: Path) -> None:
    skipped = shutil.ignore_patterns("*.pyc.*")  # byte code that another process is about to move into place
    for folder in ("jsctl", "tests", ".readme"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=skipped)
    for file in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / file, tmp_path)


def run_in(folder: Path, *args: str) -> None:
    done = subprocess.run(
        [sys.executable, *args],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder), "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_its_steps_add_a_figure_in_two_files(tmp_path: Path) -> None:
    copy_project(tmp_path)
    declaration, test = FIGURE_FILES
    lines = (tmp_path / declaration).read_text().removesuffix(")\n")
    text = textwrap.indent(FIGURE_FILES[declaration].rstrip() + ",\n", "    ")
    (tmp_path / declaration).write_text(f"{lines}{text})\n")
    (tmp_path / test).write_text(FIGURE_FILES[test])
    run_in(tmp_path, "-m", "ruff", "check", declaration, test)
    run_in(tmp_path, "-m", "ruff", "format", "--check", declaration, test)
    run_in(tmp_path, "-m", "pytest", "-n", "0", test)


@pytest.mark.long
def test_its_steps_add_a_verb(tmp_path: Path) -> None:
    copy_project(tmp_path)
    registry, *new = VERB_FILES
    assert len(new) == 4
    for path in new:
        assert not (tmp_path / path).exists()
        (tmp_path / path).write_text(VERB_FILES[path])
    lines = (tmp_path / registry).read_text()
    verbs = "VERBS: dict[str, Entry] = {\n"
    assert verbs in lines
    (tmp_path / registry).write_text(
        lines.replace(verbs, verbs + textwrap.indent(VERB_FILES[registry], "    "))
    )

    run_in(tmp_path, "-m", "tests.support.readme")
    run_in(tmp_path, "-m", "ruff", "check", *VERB_FILES)
    run_in(tmp_path, "-m", "ruff", "format", "--check", *VERB_FILES)
    architecture = ("tests/architecture/test_pages.py", "tests/architecture/test_wording.py")
    folders = ("tests/contract", "tests/commands/stream/test_idle.py", *architecture)
    run_in(
        tmp_path,
        "-m",
        "pytest",
        "-n",
        "0",
        *folders,
        "-k",
        "idle or test_pages.py or test_wording.py or test_commands.py",
    )
    assert (tmp_path / "jsctl" / "manual" / "streams.md").read_text().count("jsctl stream idle") == 1
